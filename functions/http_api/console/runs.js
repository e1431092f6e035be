// The runs of the workspace: filtered, live, a page at a time.

import { all, here } from './api.js';
import { button, h } from './dom.js';
import { pagedTable } from './paged_table.js';
import {
	badge, empty, head, hoursAgo, isLive, labelled, poll, quiet, runHash, select, time, toAutomations, took,
	words,
} from './parts.js';
import { redriveFrom } from './retry.js';
import { hashOf, link, rewrite } from './router.js';
import { session } from './session.js';

const LOOK_MS = 2000;
const NAMES_MOST = 1000;
const STATUSES = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER'];
const WINDOWS = [['1', 'Last hour'], ['24', 'Last 24 hours'], ['168', 'Last 7 days'], ['own', 'From … to …']];

export async function view({ query, signal }) {
	let wanted = asked(query);
	const nothing = h('div.slot');
	const progress = h('div.slot');
	const table = pagedTable({
		caption: 'Runs, the newest first',
		columns: {
			Status: ({ status }) => badge(status),
			Automation: (run) => h('span.row', link(runHash(run.id, run.automationId), run.automationName),
				run.parentRunId && h('span.muted.small', 'in a chain')),
			Trigger: ({ triggerType }) => h('code', triggerType),
			Created: ({ createdAt }) => time(createdAt),
			Took: tookOrTakes,
			Outcome: outcome,
		},
		path: here('/runs'), signal, query: () => wanted,
		empty: nothing,
	});

	function change(filter) {
		wanted = asked(filter);
		rewrite(hashOf('/runs', filter));
		settle();
		return table.reload();
	}

	function settle() {
		const isFiltered = Object.values(wanted).some(Boolean);
		nothing.replaceChildren(isFiltered ? noMatch() : noRuns());
		redriving.hidden = !session.can('ADMIN') || ['PENDING', 'RUNNING', 'SUCCEEDED'].includes(wanted.status);
	}

	const redriving = button('Redrive…', (event) => redriveFrom(event.currentTarget,
		{ filter: wanted, host: progress, signal, done: table.refresh }));
	settle();
	const [automations] = await Promise.all([choices(query.automationId, signal), table.ready]);
	poll(table.refresh, LOOK_MS, signal);
	return h('div.stack.live', head('Runs', 'New runs appear here by themselves.', redriving),
		filters(query, automations, change), progress, table);
}

function tookOrTakes(run) {
	const { startedAt, status } = run;
	if (isLive(run)) return quiet(!startedAt ? 'not begun' : status === 'PENDING' ? 'waits' : 'at work');
	return startedAt && took(run);
}

function outcome({ error, retryCount }) {
	const retries = retryCount > 0 && quiet(retryCount === 1 ? '1 retry' : `${retryCount} retries`);
	return error ? [h('code.error', { title: error.message }, error.code), ' ', retries] : retries;
}

const noMatch = () => empty('No run matches',
	'Choose a longer time or fewer filters. A run is kept for 30 days after its end.');
const noRuns = () => empty('No runs yet',
	'A run appears here when what an active automation waits for happens: a record changes, a form comes '
	+ 'in, a webhook is called, a schedule fires.', toAutomations('primary'));
// What the API is asked for a filter as the address has it.
const asked = ({ status, automationId, recordId, hours, from, to }) => ({ status, automationId, recordId, to,
	from: hours > 0 ? hoursAgo(hours) : from });

function filters(query, automations, change) {
	const status = anyOf('status', STATUSES.map((one) => [one, words(one)]), query.status);
	const automation = anyOf('automation', automations, query.automationId);
	const record = h('input', { type: 'search', value: query.recordId, placeholder: 'Id of a record' });
	const span = anyOf('time', WINDOWS, query.hours ?? (query.from || query.to ? 'own' : ''));
	const from = instant(query.from);
	const to = instant(query.to);
	const own = [labelled('From', from), labelled('To', to)];

	function filter() {
		const isOwn = span.value === 'own';
		for (const one of own) one.hidden = !isOwn;
		return { status: status.value, automationId: automation.value, recordId: record.value.trim(),
			...isOwn ? { from: utcOf(from), to: utcOf(to) } : { hours: span.value } };
	}
	filter();
	return h('form.filters', { role: 'search', label: 'Filter the runs', onchange: () => change(filter()),
		onsubmit: (event) => event.preventDefault() },
	labelled('Status', status), labelled('Automation', automation), labelled('Record', record),
	labelled('Time', span), own);
}

// The chosen one may be archived, or not among the first.
async function choices(chosen, signal) {
	const names = new Map(chosen && [[chosen, 'The chosen one']]);
	const found = await all(here('/automations'), null, signal, NAMES_MOST).catch(() => []);
	for (const { id, name } of found) names.set(id, name);
	return [...names];
}

const anyOf = (what, options, value) => select([['', `Any ${what}`], ...options], value);

function instant(iso) {
	const at = new Date(iso ?? NaN);
	const local = at - at.getTimezoneOffset() * 60_000;
	return h('input', { type: 'datetime-local',
		value: local ? new Date(local).toISOString().slice(0, 16) : '' });
}

const utcOf = ({ value }) => value && new Date(value).toISOString();
