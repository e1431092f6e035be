// How much ran, how it ended, how long it took, and what fails most.

import { get, here } from './api.js';
import { h, svg } from './dom.js';
import { showError } from './notice.js';
import {
	columnHeads, duration, empty, folded, head, hoursAgo, poll, select, slot, sum, toAutomations, words,
} from './parts.js';
import { hashOf, link, rewrite } from './router.js';

const LOOK_MS = 30_000;
const WINDOWS = [['24', 'Last 24 hours'], ['168', 'Last 7 days'], ['744', 'Last 31 days']];
// More columns than these become one for each day.
const HOURS_MOST = 170;
const HOUR = { weekday: 'short', hour: '2-digit', minute: '2-digit' };
const DAY = { day: 'numeric', month: 'short' };

export async function view({ query, signal }) {
	const choice = select(WINDOWS, query.hours, { label: 'Time' });
	choice.onchange = () => {
		rewrite(hashOf('/stats', { hours: choice.value }));
		look().catch(showError);
	};
	const shown = slot(draw, 'div.stack');

	async function look() {
		const hours = choice.value;
		const { from, to, ...found } = await get(here('/automations/stats'),
			{ from: hoursAgo(hours), to: hoursAgo(0) }, signal);
		if (hours === choice.value) shown.update(found, hours);
	}

	await look();
	poll(look, LOOK_MS, signal);
	return h('div.stack', head('Stats', 'Of the runs created in this time.', choice), shown);
}

function draw({ runs, perHour, durationMs: { p50, p95 }, ...found }, hours) {
	const all = sum(runs);
	if (!all) return nothing();
	const ended = all - runs.PENDING - runs.RUNNING;
	const isByDay = perHour.length > HOURS_MOST;
	return [
		h('dl.tiles', Object.entries({
			Runs: all,
			// Rounded down: 99.96 % are not all.
			Succeeded: ended ? `${Math.floor((runs.SUCCEEDED / ended) * 1000) / 10} %` : '–',
			'Under way': all - ended,
			Failed: runs.FAILED,
			'Dead-lettered': found.deadLettered,
			'Nothing to do': sum(found.skipped),
			Median: duration(p50),
			'95 % within': duration(p95),
		}).map(([term, value]) => h('div', h('dt', term), h('dd', value.toLocaleString())))),
		columns(isByDay ? 'Runs per day' : 'Runs per hour', summed(perHour, isByDay ? DAY : HOUR)),
		h('div.charts',
			p95 !== null && rows('How long a run takes', [['p50: half of the runs, at most', p50, duration(p50)],
				['p95: 95 of 100 runs, at most', p95, duration(p95)]]),
			rows('Top failures', found.topFailures.map(({ automationId, name, code, count }) => [
				[h('code.error', code), ' ',
					link(hashOf('/runs', { automationId, hours: Math.min(hours, 168) }), name)], count]), 'bad')),
	];
}

// Hours by the reader's clock; those of one day together if `format` tells no more.
function summed(perHour, format) {
	const label = new Intl.DateTimeFormat(undefined, format);
	const title = new Intl.DateTimeFormat(undefined, { ...DAY, ...format });
	const bars = new Map();
	for (const { hour, runs } of perHour) {
		const at = new Date(hour);
		const key = title.format(at);
		const bar = bars.get(key) ?? { label: label.format(at), title: key, runs: {} };
		for (const [status, count] of Object.entries(runs)) bar.runs[status] = (bar.runs[status] ?? 0) + count;
		bars.set(key, bar);
	}
	return [...bars.values()];
}

const nothing = () => empty('No runs in this time',
	'Numbers appear with the first run. Choose a longer time, or activate an automation.', toAutomations(''));

const HEIGHT = 160;
const STATUSES = ['SUCCEEDED', 'FAILED', 'DEAD_LETTER', 'RUNNING', 'PENDING'];

// `bars`: `[{label, title, runs: {SUCCEEDED: 3, …}}, …]`.
function columns(title, bars) {
	const totals = bars.map(({ runs }) => sum(runs));
	const top = nice(Math.max(1, ...totals));
	const y = (count) => 4 + HEIGHT - (count / top) * HEIGHT;
	const wide = 100 / bars.length;
	const used = STATUSES.filter((status) => bars.some(({ runs }) => runs[status]));
	const every = Math.ceil(bars.length / 6);
	const peak = bars[totals.indexOf(Math.max(...totals))];
	const spoken = `${title}: ${sum(totals)} in all, the most ${peak.title}: ${sum(peak.runs)}`;

	const column = ({ label, title: when, runs }, i) => {
		let below = 0;
		const told = used.map((one) => `${runs[one] ?? 0} ${words(one)}`).join(', ');
		return svg('g', svg('title', `${when}: ${told}`),
			svg('rect.hit', { x: `${i * wide}%`, width: `${wide}%`, height: HEIGHT + 4 }),
			used.map((status) => svg('rect.slice', { class: status, x: `${(i + 0.12) * wide}%`,
				width: `${0.76 * wide}%`, y: y(below += runs[status] ?? 0),
				height: ((runs[status] ?? 0) / top) * HEIGHT })),
			i % every === 0 && i + every / 3 < bars.length && svg('text', { class: i / every % 2 ? 'wide-only' : '',
				x: `${(i + 0.5) * wide}%`, y: HEIGHT + 20, 'text-anchor': i ? 'middle' : 'start' }, label));
	};
	return h('figure.card', h('h2', title),
		h('ul.legend', used.map((status) => h('li', svg('svg', { width: 10, height: 10, 'aria-hidden': 'true' },
			svg('rect.slice', { class: status, width: 10, height: 10, rx: 2 })), words(status)))),
		svg('svg.chart', { height: HEIGHT + 24, role: 'img', label: spoken },
			[0, top / 2, top].map((value) => [svg('line.tick', { x2: '100%', y1: y(value), y2: y(value) }),
				value >= 1 && svg('text', { y: y(value) + 12 }, value.toLocaleString())]),
			bars.map(column)),
		folded('As a table', h('div.scroll.tall', h('table.plain',
			columnHeads(['When', ...used.map(words)]),
			h('tbody', bars.filter((_, i) => totals[i]).map((bar) => h('tr', h('td', bar.title),
				used.map((one) => h('td', { 'data-title': words(one) }, bar.runs[one] ?? 0)))))))));
}

// A bar a row; `items`: `[[name, value, shown?], …]`.
function rows(title, items, tone = 'work') {
	const most = Math.max(1, ...items.map(([, value]) => value));
	const rect = (name, width) => svg('rect', { class: name, y: 2, width, height: 8, rx: 2 });
	return items.length > 0 && h('figure.card', h('h2', title),
		h('ol.stack.tight.bar-rows', items.map(([name, value, shown]) => h('li', h('span', name),
			svg('svg.bars', { height: 12, 'aria-hidden': 'true' },
				rect('groove', '100%'), rect(`span ${tone}`, `${(value / most) * 100}%`)),
			h('strong', shown ?? value.toLocaleString())))));
}

// The next of 1, 2, 4, 10, 20, 40, …: nearly always its half is whole too.
function nice(most) {
	const power = 10 ** Math.floor(Math.log10(most));
	return [1, 2, 4, 10].map((n) => n * power).find((n) => n >= most);
}
