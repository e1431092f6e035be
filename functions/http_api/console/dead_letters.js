// Runs that nobody tries any more, grouped by what they died of.

import { all, here } from './api.js';
import { button, h } from './dom.js';
import { automationHash, empty, head, many, poll, runHash, slot, time } from './parts.js';
import { redriveFrom } from './retry.js';
import { hashOf, link } from './router.js';
import { session } from './session.js';

const DEAD = { status: 'DEAD_LETTER' };
const LOOKED_AT = 1000;
const LOOK_MS = 10_000;
const RUNS_SHOWN = 20;

export async function view({ signal }) {
	const opened = new Set();
	const progress = h('div.slot');
	const groups = slot(draw, 'div.stack');
	const redriver = (text, name, what) => button(text, (event) => redriveFrom(event.currentTarget,
		{ ...what, host: progress, signal, done: load }), { label: name });
	const every = session.can('ADMIN') && redriver('Redrive all…', 'Redrive all dead letters',
		{ filter: DEAD });

	async function load() {
		const runs = await all(here('/runs'), DEAD, signal, LOOKED_AT);
		const focused = document.activeElement.getAttribute('aria-label');
		groups.update(runs);
		if (focused) groups.querySelector(`button[aria-label="${CSS.escape(focused)}"]`)?.focus();
	}
	function draw(runs) {
		const cards = [...Map.groupBy(runs, ({ automationId }) => automationId).values()];
		if (every) every.hidden = cards.length < 2;
		return [cards.map((own) => card(own, redriver, opened)),
			runs.length >= LOOKED_AT
				&& h('p.muted', `Only the newest ${runs.length.toLocaleString()} are grouped here.`),
			!runs.length && nothing()];
	}

	await load();
	poll(load, LOOK_MS, signal);
	return h('div.stack', head('Dead letters',
		'Runs whose step failed at its last attempt. They wait here until somebody brings them back.', every),
	progress, groups);
}

function card(runs, redriver, opened) {
	const [{ automationId, automationName: name }] = runs;
	const filter = { ...DEAD, automationId };
	const codes = Map.groupBy(runs, ({ error }) => error.code);
	return h('section.card.dead', { label: name },
		h('div.row', h('h2', link(automationHash(automationId), name)),
			link(hashOf('/runs', filter), many(runs.length, 'run')),
			session.can('ADMIN') && redriver('Redrive…', `Redrive all of ${name}`, { filter })),
		h('ul', [...codes].map(([code, own]) => h('li', ofCode(code, own, opened),
			// No one request redrives what shares a code.
			session.can('EDITOR') && (codes.size > 1 || !session.can('ADMIN'))
				&& redriver('Redrive these…', `Redrive ${code} of ${name}`,
					{ filter: { automationId }, runs: own })))));
}

function ofCode(code, runs, opened) {
	const [{ automationId, error, finishedAt }] = runs;
	const key = automationId + code;
	return h('details', { open: opened.has(key), ontoggle: ({ currentTarget: { open } }) => (
		open ? opened.add(key) : opened.delete(key)) },
	h('summary', h('code.error', code), ' ', h('strong', many(runs.length, 'run')), ' ',
		h('span.muted', error.message, ' · newest ', time(finishedAt))),
	h('ul.stack.tight', runs.slice(0, RUNS_SHOWN).map((run) => h('li',
		link(runHash(run.id, automationId), time(run.createdAt)),
		h('span.muted', run.error.actionType && ` step ${run.error.actionIndex + 1},`,
			` after ${many(run.error.attempts, 'attempt')}`))),
	runs.length > RUNS_SHOWN && h('li.muted', `and ${many(runs.length - RUNS_SHOWN, 'more run')}`)));
}

const nothing = () => empty('No dead letters',
	'When a step fails in a way that may pass (a target is down, the network is slow), it is tried again, each '
	+ 'time after a longer wait. If its last attempt fails too, its run is kept here, and you can bring it '
	+ 'back once the cause is gone.',
	link('#/runs?status=FAILED', 'Runs that failed for good at once', { class: 'button' }));
