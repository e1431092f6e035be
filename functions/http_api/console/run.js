// One run: what started it, what it did, what came of it.

import { all, get, here } from './api.js';
import { button, h, replace } from './dom.js';
import { busy } from './notice.js';
import {
	ago, automationHash, badge, clockTime, folded, inLine, isLive, poll, pre, quiet, runHash, slot, time, took,
} from './parts.js';
import { cancel, retry } from './retry.js';
import { hashOf, link } from './router.js';
import { fault, part, timeline } from './run_timeline.js';
import { session } from './session.js';

const LOOK_MS = 1500;
// An ended run changes only by a retry or in its chain.
const TURNS_WHEN_ENDED = 6;
const CHAIN_MOST = 200;
const LINES_SHOWN = 100;

export async function view({ params: { id }, query, signal }) {
	const automationId = query.automation ?? await automationOf(id, signal);
	const automationPath = `/automations/${encodeURIComponent(automationId)}`;
	const path = `${automationPath}/runs/${encodeURIComponent(id)}`;
	const automation = await get(automationPath, null, signal);
	let run = {};
	let actions;
	const state = slot(badge, 'div', { role: 'status' });
	const buttons = slot(controls);
	const facts = slot(factsOf, 'dl.run-facts');
	const news = h('div.slot');
	const data = slot((input, output) => [part('Input', input), part('Output', output, 'None.')],
		'div.card.halves');
	const steps = timeline();
	const family = slot(chain);
	const log = logs();
	const heading = h('h1', automation.name);

	function controls() {
		const canRetry = run.error && automation.status !== 'ARCHIVED';
		if (!session.can('EDITOR') || !(isLive(run) || canRetry)) return null;
		const acts = (act) => (event) => busy(event.currentTarget, async () => {
			if (!await act()) return;
			await refresh();
			heading.focus(); // the button that was pressed has gone
		});
		return isLive(run) ? button('Cancel…', acts(() => cancel(run, path)), { class: 'danger' })
			: button('Retry…', acts(async () => {
				const { version } = await get(automationPath, null, signal);
				return retry(run, path, actions, version);
			}), { class: 'primary' });
	}

	async function refresh() {
		const found = await get(path, null, signal);
		if (found.version !== run.version) {
			({ actions } = await get(`${automationPath}/versions/${found.version}`, null, signal));
		}
		run = found;
		state.update(run.status);
		buttons.update(run.status);
		const { steps: _, logs: __, input, output, ...rest } = run;
		facts.update({ ...rest, recordId: input.recordId });
		replace(news, newsOf(run));
		data.update(input, output);
		steps.update(run, actions);
		log.update(run);
		await lookForFamily(run);
	}

	async function lookForFamily({ rootRunId, parentRunId, input }) {
		const { data: runs, nextCursor } = await get(here('/runs'), { rootRunId, limit: CHAIN_MOST }, signal)
			.catch(aloneIfRefused);
		family.update(id, parentRunId && input.automationContext, runs.reverse(), nextCursor !== null);
	}

	await refresh();
	let turns = 0;
	poll(() => {
		turns += 1;
		return (isLive(run) || turns % TURNS_WHEN_ENDED === 0) && refresh();
	}, LOOK_MS, signal);
	return h('div.stack',
		h('div.head', h('div',
			h('p.crumb', link('#/runs', 'Runs'), ' / ', link(automationHash(automationId), 'Automation')),
			h('div.row', heading, state)), buttons),
		news, facts, steps, family, data, log);
}

// The list of what came of a run begins with the run itself.
async function automationOf(id, signal) {
	const family = await all(here('/runs'), { rootRunId: id }, signal);
	return family.find((one) => one.id === id)?.automationId ?? '-';
}

// Why it failed, why it did nothing, what it waits for.
function newsOf({ error, dueAt, output }) {
	if (error) {
		return fault(error, error.actionType && [` · step ${error.actionIndex + 1}`,
			error.attempts > 1 && `, after ${error.attempts} attempts`]);
	}
	if (output?.skipped) {
		return h('div.banner.info', `Nothing was done: ${output.skipped.replaceAll('_', ' ')}.`);
	}
	return Date.parse(dueAt) > Date.now()
		&& h('div.banner.info', 'Goes on ', ago(dueAt), ', at ', time(dueAt), '.');
}

const factsOf = (run) => Object.entries({
	Trigger: h('code', run.triggerType),
	Created: time(run.createdAt),
	Started: time(run.startedAt),
	Took: took(run),
	Retries: run.retryCount,
	Version: link(`${automationHash(run.automationId)}/versions`, run.version),
	Record: run.recordId && link(hashOf('/runs', { recordId: run.recordId }), run.recordId),
	Run: h('code', run.id),
	Event: h('code', run.eventId),
}).map(([term, value]) => (value ?? null) !== null && h('div', h('dt', term), h('dd', value)));

// Who is no member sees the run, but no list of the workspace.
function aloneIfRefused(error) {
	if (error.status !== 403 && error.status !== 404) throw error;
	return { data: [], nextCursor: null };
}

// The runs that led to this one, and those that came of it.
function chain(id, cause, runs, hasMore) {
	if (runs.length < 2 && !cause) return null;
	const branch = ({ status, automationId, automationName: name, createdAt, ...run }) => h('li',
		h('span.row', badge(status), run.id === id ? h('strong', { 'aria-current': 'true' }, name)
			: link(runHash(run.id, automationId), name), quiet(time(createdAt))),
		h('ul', runs.filter((one) => one.parentRunId === run.id).map(branch)));
	const first = runs.filter((run) => !runs.some((one) => one.id === run.parentRunId));
	return h('section.card', { label: 'Chain' },
		h('div.row', h('h2', 'Chain')),
		runs.length < 2 && link(runHash(cause.runId, cause.automationId), 'The run that led to this one'),
		runs.length > 1 && h('ul.chain', first.map(branch)),
		hasMore && h('p.muted', `Its newest ${CHAIN_MOST} runs.`));
}

function logs() {
	let run;
	let back = 0; // pages before the newest one
	const said = h('span.muted', { role: 'status' });
	const older = button('Older lines', () => turn(1));
	const newer = button('Newer lines', () => turn(-1));
	const body = slot((lines) => lines.map(lineOf), 'tbody');

	function turn(pages) {
		back += pages;
		draw();
	}

	function draw() {
		const lines = run.logs;
		const end = Math.max(0, lines.length - back * LINES_SHOWN);
		const begin = Math.max(0, end - LINES_SHOWN);
		older.disabled = begin === 0;
		newer.disabled = back === 0;
		older.hidden = newer.hidden = lines.length <= LINES_SHOWN;
		body.update(lines.slice(begin, end));
		replace(said, lines.length
			? `${begin + 1}–${end} of ${run.logsTruncated ? 'the newest ' : ''}${lines.length}` : 'No lines');
	}

	return Object.assign(h('section.card.log', { label: 'Log' },
		h('div.row', h('h2', 'Log'), said, older, newer),
		h('div.scroll', h('table.plain.lines', h('caption.hidden', 'Log lines, the oldest first'), body))), {
		update(seen) {
			run = seen;
			draw();
		},
	});
}

function lineOf({ level, message, data, createdAt }) {
	const isNested = Object.values(data).some((value) => Object(value) === value);
	const tone = { warn: 'warning', error: 'error' }[level];
	return h('tr', h('td', clockTime(createdAt)), h('td', { class: tone ?? 'muted' }, level),
		h('td.mono', { class: tone }, message),
		h('td.data', isNested ? folded(Object.keys(data).join(', '), pre(data, message)) : inLine(data)));
}
