// Who did what in this workspace: its audit log.

import { all, here } from './api.js';
import { h } from './dom.js';
import { pagedTable } from './paged_table.js';
import { automationHash, empty, head, inLine, quiet, runHash, time, words } from './parts.js';
import { link } from './router.js';

const NAMES_MOST = 1000;

export async function view({ signal }) {
	const listed = (path) => all(here(path), {}, signal, NAMES_MOST).catch(() => []);
	const [people, automations] = await Promise.all([listed('/members'), listed('/automations')]);
	const names = new Map([...people.map(({ userId, name, email }) => [userId, name ?? email]),
		...automations.map(({ id, name }) => [id, name])]);
	const named = (type, id) => {
		const name = names.get(id);
		if (type === 'automation') return link(automationHash(id), name ?? 'an automation');
		if (type === 'automation_run') return link(runHash(id), 'a run');
		return name ?? quiet(type === 'workspace' ? 'this workspace' : `${words(type)} ${id}`);
	};
	const table = pagedTable({
		caption: 'Activity, the newest first',
		columns: {
			When: ({ createdAt }) => time(createdAt),
			Who: ({ actor: { type, id } }) => (id.startsWith('automation:') ? named('automation', id.slice(11))
				: named(type, id)),
			Did: ({ action }) => words(action.replace('.', ' ')),
			To: ({ resource: { type, id } }) => named(type, id),
			Details: ({ data }) => h('span.small', inLine(data)),
		},
		path: here('/audit'), signal,
		empty: empty('Nothing yet', 'Changes of automations, secrets and members, retries, and runs that were '
			+ 'given up are written down here, with who did it.'),
	});
	await table.ready;
	return h('div.stack.activity', head('Activity', 'What people and the engine itself did here.'), table);
}
