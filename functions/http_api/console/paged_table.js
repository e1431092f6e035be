// A table of a list that comes in pages.

import { get } from './api.js';
import { button, h, replace } from './dom.js';
import { columnHeads } from './parts.js';

// A list of the API at `path`; `columns`: title → `cell(item)`; `empty`: a node for no items.
// `ready`: the first page is there or refused; `refresh()` asks for the first page, `reload()` begins anew.
export function pagedTable({ caption, columns, classes = {}, path, query, signal, empty, key = ({ id }) => id,
	load = (cursor) => get(path, { ...query?.(), cursor }, signal) }) {
	let rows = new Map(); // key → [JSON of the item, its row]
	let cursor = null;
	let pages = 0;
	const body = h('tbody');
	const scroll = h('div.scroll', h('table', h('caption.hidden', caption),
		columnHeads(Object.keys(columns), classes), body));
	const foot = h('div.table-foot', { role: 'status' });
	const row = (item) => h('tr', Object.entries(columns).map(([title, cell]) => h('td',
		{ class: classes[title], 'data-title': title }, cell(item))));

	function draw() {
		const focused = document.activeElement;
		body.replaceChildren(...[...rows.values()].map(([, node]) => node));
		if (body.contains(focused)) focused.focus();
		scroll.hidden = !rows.size;
		replace(foot, rows.size ? cursor && button('Load more', next) : empty);
	}

	// Rows that have not changed stay the nodes they were.
	const rowsOf = (items) => items.map((item) => {
		const text = JSON.stringify(item);
		const before = rows.get(key(item));
		return [key(item), before?.[0] === text ? before : [text, row(item)]];
	});

	async function next() {
		replace(foot, h('p.muted', 'Loading …'));
		try {
			const page = await load(cursor);
			rows = new Map([...rows, ...rowsOf(page.data)]);
			cursor = page.nextCursor;
			pages += 1;
			draw();
		} catch (error) {
			if (error.name === 'AbortError') return;
			replace(foot, h('p.error', `${error.message} `, button('Try again', next)));
		}
	}

	async function refresh() {
		const page = await load(null);
		if (pages <= 1) cursor = page.nextCursor;
		const fresh = new Map(rowsOf(page.data));
		rows = new Map([...fresh, ...pages > 1 ? [...rows].filter(([one]) => !fresh.has(one)) : []]);
		pages = Math.max(pages, 1);
		draw();
	}

	function reload() {
		rows = new Map();
		cursor = null;
		pages = 0;
		return next();
	}

	return Object.assign(h('div.paged', scroll, foot), { ready: next(), refresh, reload });
}
