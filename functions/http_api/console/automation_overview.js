// One automation: what it does, whether it may, and how it went lately.

import { all, del, get, here, post } from './api.js';
import { automationHead, definition, mayEdit, showWebhook } from './automation.js';
import { h } from './dom.js';
import { busy, doing, say } from './notice.js';
import { pagedTable } from './paged_table.js';
import { ago, badge, duration, empty, facts, poll, runHash, time, timeIn, took } from './parts.js';
import { go, hashOf, link } from './router.js';

const EVERY_MS = 3000;

export async function view({ params: { id }, signal }) {
	const path = `/automations/${id}`;
	const [automation, databases] = await Promise.all([
		get(path, null, signal), all(here('/databases'), null, signal)]);
	const names = new Map(databases.map((one) => [one.id, one.name]));
	const has = (type) => automation.triggers.some((one) => one.type === type);
	const may = mayEdit(automation);
	const runs = runsTable(id, path, signal);
	poll(runs.refresh, EVERY_MS, signal);
	return h('div',
		automationHead(automation, '', may && [statusSwitch(automation), doing('Run now', async () => {
			await post(`${path}/run`, {});
			say('The run has been started');
			await runs.refresh();
		})]),
		h('div.split',
			h('div.stack',
				card('Definition', definition(automation, names)),
				h('section', h('div.row.below', h('h2', 'Runs'),
					link(hashOf('/runs', { automationId: id }), 'All of its runs')), runs)),
			h('div.stack',
				card('Facts', h('dl.facts', facts([
					['Database', names.get(automation.databaseId) ?? automation.databaseId ?? 'None'],
					['Version', automation.version], ['Created', time(automation.createdAt)],
					['Changed', time(automation.updatedAt)]]))),
				has('SCHEDULE') && await scheduleCard(path, automation, signal),
				has('WEBHOOK') && webhookCard(path, may),
				may && h('div', archive(automation)))));
}

const card = (title, ...body) => h('section.card.stack', { label: title }, body);

function statusSwitch({ id, status, version }) {
	const active = status === 'ACTIVE';
	const node = h('button.switch', { type: 'button', role: 'switch', 'aria-checked': `${active}`,
		onclick: () => busy(node, async () => {
			await post(`/automations/${id}/status`, { status: active ? 'PAUSED' : 'ACTIVE' }, { version });
			say(active ? 'Paused: events pass it by' : 'Active from now on');
			await go(`#/automations/${id}`);
			document.querySelector('[role=switch]')?.focus();
		}) }, h('span.track'), 'Active');
	return node;
}

const runsTable = (automation, path, signal) => pagedTable({
	caption: 'Runs',
	columns: {
		Status: ({ id, status }) => link(runHash(id, automation), badge(status)),
		'Started by': ({ triggerType }) => triggerType,
		When: ({ createdAt }) => ago(createdAt),
		Took: took,
		Error: ({ error }) => error && h('code.error', error.code),
	},
	path: `${path}/runs`, signal, query: () => ({ limit: 10 }),
	empty: empty(null, 'No run yet. While it is active, the next event that one of its triggers waits for '
		+ 'starts one.'),
});

async function scheduleCard(path, { status }, signal) {
	const { schedules } = await get(`${path}/schedule`, null, signal);
	return card('Schedule', h('h2', 'Schedule'), schedules.map((one) => [
		h('p', h('code', one.cron ?? `every ${duration(one.runEvery * 1000)}`), ` in ${one.timeZone}`),
		one.next.length ? h('ol.preview', one.next.map((iso) => h('li', timeIn(iso, one.timeZone))))
			: h('p.muted', status === 'ACTIVE' ? 'Nothing ahead.' : 'It fires while it is active.')]));
}

const webhookCard = (path, may) => card('Webhook', h('h2', 'Webhook'),
	h('p.muted', 'Its URL was shown when it was made. Only a fingerprint of it is kept.'),
	may && h('div', doing('Make a new URL', async () => showWebhook(await post(`${path}/webhook/regenerate`)), {
		question: { title: 'A new URL?', confirm: 'Make a new one', danger: true,
			body: 'The present URL and secret stop working at once. Whoever calls it needs the new ones.' } })));

const archive = ({ id, name, version }) => doing('Archive', async () => {
	await del(`/automations/${id}`, { version });
	say(`${name} is archived`);
	go('#/automations');
}, { class: 'danger', question: { title: `Archive ${name}?`, confirm: 'Archive', danger: true,
	body: 'It never runs again and cannot be brought back. Its runs stay readable.' } });
