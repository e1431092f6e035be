// What an automation has been, and the way back.

import { get, post } from './api.js';
import { automationHead, mayEdit, showWebhook } from './automation.js';
import { button, h, replace } from './dom.js';
import { doing, say, showError } from './notice.js';
import { pagedTable } from './paged_table.js';
import { ago, json } from './parts.js';
import { go, rewrite } from './router.js';

const MARKS = { same: ['span', ' '], gone: ['del', '−'], new: ['ins', '+'] };
const linesOf = ({ name, databaseId, triggers, condition, actions }) => json(
	{ name, databaseId, triggers, condition, actions }).split('\n');
const CELLS_MAX = 4_000_000; // of `common` below; beyond it both are shown whole

export async function view({ params: { id }, query, signal }) {
	const path = `/automations/${id}`;
	const automation = await get(path, null, signal);
	const present = automation.version;
	const compared = h('section.card', { 'aria-live': 'polite', label: 'Comparison' });
	const restore = (version) => doing('Restore', async () => {
		const { webhook, version: made } = await post(`${path}/versions/${version}/restore`);
		if (webhook) await showWebhook(webhook);
		say(`Version ${version} is restored as version ${made}`);
		go(`#${path}`);
	}, { question: { title: `Restore version ${version}?`, confirm: 'Restore',
		body: 'It becomes a new version, equal to this one. Runs at work keep theirs.' } });
	async function choose(version) {
		rewrite(`#${path}/versions?version=${version}`);
		try {
			const [then, now] = await Promise.all([version, present]
				.map((one) => get(`${path}/versions/${one}`, null, signal).then(linesOf)));
			replace(compared, h('div.row',
				h('h2', `Version ${version}${version === present ? ', the present one' : ` → ${present}`}`),
				version !== present && mayEdit(automation) && restore(version)),
			h('pre.diff', { tabindex: 0 }, diff(then, now).map(([kind, line]) => h(MARKS[kind][0],
				`${MARKS[kind][1]} ${line}\n`))));
		} catch (error) {
			showError(error);
		}
	}
	const list = pagedTable({
		caption: 'Versions',
		key: ({ version }) => version,
		columns: {
			Version: ({ version }) => button(version + (version === present ? ' · present' : ''),
				() => choose(version)),
			Saved: ({ createdAt }) => ago(createdAt),
		},
		classes: { Saved: 'end' },
		path: `${path}/versions`, signal,
	});
	await Promise.all([list.ready, choose(Number(query.version) || Math.max(1, present - 1))]);
	return h('div', automationHead(automation, '/versions'), h('div.split', compared, list));
}

// [['same' | 'gone' | 'new', line], …], the shortest way from `a` to `b`.
function diff(a, b) {
	if (a.length * b.length > CELLS_MAX) {
		return [...a.map((line) => ['gone', line]), ...b.map((line) => ['new', line])];
	}
	// [i][j]: how many lines a from i on and b from j on share.
	const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
	for (let i = a.length - 1; i >= 0; i -= 1) {
		for (let j = b.length - 1; j >= 0; j -= 1) {
			common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
		}
	}
	const lines = [];
	let i = 0;
	let j = 0;
	while (i < a.length || j < b.length) {
		const same = i < a.length && a[i] === b[j];
		const gone = !same && (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1]));
		lines.push(same ? ['same', a[i]] : gone ? ['gone', a[i]] : ['new', b[j]]);
		if (same || gone) i += 1;
		if (!gone) j += 1;
	}
	return lines;
}
