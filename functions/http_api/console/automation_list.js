// All automations of the workspace.

import { get, here } from './api.js';
import { choice } from './controls.js';
import { h, svg } from './dom.js';
import { pagedTable } from './paged_table.js';
import { ago, automationHash, badge, empty, head, poll, quiet, runHash, words } from './parts.js';
import { go, hashOf, link } from './router.js';
import { session } from './session.js';

const EVERY_MS = 10_000;

export async function view({ query: { status }, signal }) {
	const base = here('/automations');
	let runs = {};
	// Of the last 24 hours; without them the list is still one.
	const count = () => get(`${base}/stats`, null, signal).then(({ byAutomation }) => {
		runs = Object.fromEntries(byAutomation.map((one) => [one.automationId, one.runs]));
	}, () => {});
	const counted = count();
	const table = pagedTable({
		caption: 'Automations',
		columns: {
			Name: ({ id, name, description }) => h('div',
				link(automationHash(id), name), description && h('p.muted.small.clip', description)),
			Status: (one) => badge(one.status),
			Triggers: ({ triggers }) => (triggers.length
				? h('span.row', triggers.map((type) => h('span.tag', words(type)))) : quiet('–')),
			'Last run': ({ id, latestRun: run }) => (run ? link(runHash(run.id, id),
				[badge(run.status), ago(run.createdAt)], { class: 'run-link' }) : quiet('Never')),
			'Last 24 hours': (one) => (one.runs ? successBar(one.runs) : quiet('No runs')),
		},
		classes: { Name: 'main' },
		load: async (cursor) => {
			const [page] = await Promise.all([get(base, { status, cursor }, signal), counted]);
			return { ...page, data: page.data.map((one) => ({ ...one, runs: runs[one.id] })) };
		},
		empty: status ? empty(null, 'No automation has this status.')
			: empty('When something happens, then do something', 'An automation waits for an event, such as a new '
				+ 'record, a schedule or a webhook, asks its condition, and then carries out its actions, one after '
				+ 'the other.', newButton()),
	});
	await table.ready;
	poll(() => count().then(table.refresh), EVERY_MS, signal);
	return h('div',
		head('Automations', null, h('div.row',
			choice(status, (now) => go(hashOf('/automations', { status: now })),
				['ACTIVE', 'PAUSED', 'DRAFT', 'ARCHIVED'].map((one) => [one, words(one)]),
				{ empty: 'All but archived', label: 'Status' }), newButton())),
		table);
}

const newButton = () => session.can('EDITOR')
	&& link('#/automations/new', 'New automation', { class: 'button primary' });

function successBar({ SUCCEEDED: good, PENDING, RUNNING, FAILED, DEAD_LETTER }) {
	const parts = { good, info: PENDING + RUNNING, bad: FAILED + DEAD_LETTER };
	const total = good + parts.info + parts.bad;
	const title = `${good} of ${total} succeeded, ${parts.bad} failed, ${parts.info} under way`;
	let x = 0;
	return h('span.bar', { role: 'img', label: title, title },
		svg('svg', { viewBox: `0 0 ${total} 1`, preserveAspectRatio: 'none' },
			Object.entries(parts).map(([tone, width]) => {
				x += width;
				return svg('rect', { class: tone, x: x - width, width, height: 1 });
			})),
		h('span.small', `${good}/${total}`));
}
