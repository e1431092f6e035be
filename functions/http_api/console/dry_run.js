// What an automation would do with an event, without doing it.

import { get, post } from './api.js';
import { automationHead, conditionTree, numbered } from './automation.js';
import { checked, choice, field } from './controls.js';
import { h, replace } from './dom.js';
import { doing } from './notice.js';
import { folded, json, utc, words } from './parts.js';

const REASONS = {
	filter_mismatch: 'No trigger waits for this event.',
	not_active: 'The automation is not active.',
	self_trigger: 'The automation caused this event itself.',
	depth_limit: 'The event is too deep in a chain of automations.',
	conditions_not_met: 'The condition does not hold.',
	no_event: 'There is no event yet to try it with.',
};
// The others would not stop the step.
const BLOCKING = new Set(['TEMPLATE_MISSING', 'SECRET_UNKNOWN', 'DELAY_INVALID', 'ACTION_CONFIG_INVALID']);

export async function view({ params: { id }, query: { runId }, signal }) {
	const path = `/automations/${id}`;
	const [automation, { data }] = await Promise.all([get(path, null, signal),
		get(`${path}/runs`, { limit: 50 }, signal)]);
	const body = { runId };
	const past = data.map((run) => [run.id,
		`${run.triggerType} · ${utc(run.createdAt)} · ${words(run.status)}`]);
	const pick = choice(runId, (now) => { body.runId = now; }, past, { empty: 'The newest event' });
	const result = h('div.stack', { 'aria-live': 'polite' });
	const start = doing('Dry run', () => checked(form, async () => {
		replace(result, outcome(await post(`${path}/dry-run`, body, { key: false, signal }), automation));
	}), { class: 'primary' });
	const form = h('section.card.stack', { label: 'Dry run' },
		field({ path: 'runId', label: 'Event to try' }, pick),
		h('div.row', start, h('span.muted.small', 'Nothing is sent or changed.')));
	return h('div', automationHead(automation, '/dry-run'), h('div.split.turned', form, result));
}

function outcome({ wouldMatch, reason, event, condition, actions }, automation) {
	const part = (title, body) => h('section.card', { label: title }, h('h2', title), body);
	const pre = (value) => h('pre', { tabindex: 0 }, json(value));
	return [
		h('p.banner', { class: wouldMatch ? 'good' : 'warn' },
			h('strong', wouldMatch ? 'It would run.' : 'It would not run. '), REASONS[reason]),
		part('If', automation.condition ? conditionTree(automation.condition, condition?.explain)
			: h('p.muted', 'Always')),
		part('Then', numbered(actions.map(({ type, problems, config }) => h('div.stack.tight',
			h('h3', words(type)),
			problems.map(({ path, code }) => h('p.banner.small', { class: BLOCKING.has(code) ? 'bad' : 'warn' },
				h('code', path), ` ${words(code)}`)),
			pre(config))))),
		event && h('div.card', folded(`Event ${event.type}`, pre(event))),
	];
}
