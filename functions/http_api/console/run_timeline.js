// A run as rows of bars on one scale, each step with what there is to know about it.

import { button, h, replace, svg } from './dom.js';
import { badge, clockTime, columnHeads, duration, isLive, pre, quiet, slot, words } from './parts.js';
import { extentOf, livesOf } from './run_lives.js';

const ENDS = { ok: 'Done', cut: 'Interrupted', work: 'At work' };

export function timeline() {
	let chosen = null; // the life on show; null is the newest
	let last;
	const tab = (i, count, shown) => button(i ? `Retry ${i}` : 'First run', () => choose(i, count),
		{ class: 'quiet', 'aria-pressed': String(i === shown) });
	const tabs = slot((count, shown) => count > 1
		&& Array.from({ length: count }, (_, i) => tab(i, count, shown)),
	'div.row', { role: 'group', label: 'Tries by hand' });
	const colours = slot(legend);
	const scale = h('div.bar-cell');
	const whole = h('div.bar-cell');
	const rows = [];
	const list = h('ol.steps');
	const note = h('p.muted', { hidden: true },
		'Only the newest 1,000 lines of the log are shown; what was before them is not drawn.');

	function choose(i, count) {
		chosen = i === count - 1 ? null : i;
		update(...last);
		tabs.children[i].focus();
	}

	function update(run, actions) {
		last = [run, actions];
		const lives = livesOf(run.logs);
		const life = lives[chosen ?? lives.length - 1] ?? { from: 0, to: 1, run: [], steps: [] };
		const isNewest = chosen === null;
		const now = isNewest && isLive(run) ? Date.now() : null;
		const extent = extentOf(life, now);
		tabs.update(lives.length, lives.indexOf(life));
		colours.update([...life.run, ...life.steps.flat()].map(({ kind }) => kind));
		replace(scale, axis(extent));
		replace(whole, bars(life.run, extent, now));
		const count = Math.max(actions.length, life.steps.length);
		for (let index = 0; index < count; index += 1) {
			if (!rows[index]) list.append((rows[index] = stepRow(index)).node);
			const row = isNewest ? run.steps.find((one) => one.index === index) : undefined;
			rows[index].update({ row, spans: life.steps[index] ?? [], action: actions[index],
				isFailed: isNewest && run.error?.actionIndex === index }, extent, now);
		}
		note.hidden = !run.logsTruncated;
	}

	return Object.assign(h('section.card', { label: 'Timeline' },
		h('div.card-head', h('h2', 'Timeline'), tabs, colours),
		h('div.step-line.scale', scale),
		h('div.step-line', h('span.step-name.muted', 'Run'), whole),
		list, note), { update });
}

function stepRow(index) {
	const cell = h('div.bar-cell');
	const state = slot(({ row, spans }) => [statusOf(row, spans), ' ',
		h('span.muted.small', tookOf(row, spans))], 'span.row');
	const name = slot((type) => [h('span.step-number', index + 1), words(type)], 'span.step-name');
	const body = slot(stepBody, 'div.step-body');
	const details = h('details', h('summary.step-line', name, cell, state), body);
	let wasFailed = false;
	return { node: h('li', details), update(step, extent, now) {
		name.update(step.action?.type ?? step.row?.type ?? 'Action');
		replace(cell, bars(step.spans, extent, now));
		state.update(step);
		body.update(step);
		if (step.isFailed && !wasFailed) details.open = true; // what one came to see
		wasFailed = step.isFailed;
	} };
}

// By its row; in a life gone by, by its log.
function statusOf(row, spans) {
	const last = spans.at(-1);
	if (row?.status === 'FAILED' && last?.kind === 'wait' && last.to === null) return badge('RETRYING');
	const end = { ok: 'SUCCEEDED', delay: 'SUCCEEDED' }[last?.kind] ?? (last && 'FAILED');
	return row || end ? badge(row?.status ?? end) : quiet('not reached');
}

function tookOf(row, spans) {
	const tries = Math.max(row?.attempts ?? 0, spans.filter((span) => span.attempt).length);
	const end = spans.at(-1)?.to; // none while it lasts
	return [tries > 1 && `${tries} attempts`, end && duration(Math.max(row?.ms ?? 0, end - spans[0].from))]
		.filter(Boolean).join(' · ');
}

const stepBody = ({ action, row, spans }) => [
	row?.error && !spans.some(({ kind }) => kind === 'bad') && fault(row.error),
	spans.length ? attempts(spans) : h('p.muted', 'Not tried within this log.'),
	h('div.halves', part('Config, as saved', action?.config, 'Not in this version.'),
		part('Output', row?.output, 'No output.')),
];

export const fault = ({ code, message }, more) => h('div.banner.bad', h('code', code), ' ', message, more);

export const part = (title, value, none) => h('div', h('h3', title),
	(value ?? null) === null ? h('p.muted', none) : pre(value, title));

const attempts = (spans) => h('div.scroll', h('table.plain.lines', h('caption.hidden', 'Attempts and waits'),
	columnHeads(['What', 'Began', 'Took', 'Outcome']),
	h('tbody', spans.map(({ kind, attempt, from, to, ms, due, code, message }) => h('tr',
		h('td', attempt ? `Attempt ${attempt}` : words(kind)),
		h('td', clockTime(from)),
		h('td.nowrap', duration(ms ?? (to && to - from))),
		h('td', due ? ['Due ', clockTime(due)] : code ? [h('code.error', code), ' ', message] : ENDS[kind]))))));

const TICKS_S = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800,
	3600, 7200, 14_400, 28_800, 43_200, 86_400, 172_800, 432_000, 864_000];
const TICKS_MOST = 6;
// Of the width, so that a text has room.
const LABELLED = 0.09;
const NAMES = {
	queue: 'in the queue', work: 'at work', wait: 'waits to try again', delay: 'waits as told',
	ok: 'done', bad: 'failed', cut: 'interrupted, its process ended',
};
const WAITS = ['wait', 'delay', 'queue'];

// `now`: the instant of the line, or null.
function bars(spans, { from, to }, now) {
	const at = (instant) => percent((instant - from) / (to - from));
	const line = (name, instant) => svg(`line.${name}`, { x1: at(instant), x2: at(instant), y2: '100%' });
	const told = spans.slice(0, 40)
		.map((span) => `${NAMES[span.kind]} ${rounded(endOf(span, now ?? to) - span.from)}`);
	return svg('svg.bars', { height: 26, role: 'img', label: told.join(', ') || 'not reached' },
		ticksOf(from, to).map((tick) => line('tick', tick)),
		spans.map((span) => bar(span, endOf(span, now ?? to), at, to - from)),
		now && line('now', now));
}

function axis({ from, to }) {
	return svg('svg.bars', { height: 18, 'aria-hidden': 'true' }, ticksOf(from, to).map((tick) => {
		const share = (tick - from) / (to - from);
		const anchor = share < 0.03 ? 'start' : share > 0.95 ? 'end' : 'middle';
		return svg('text', { x: percent(share), y: 12, 'text-anchor': anchor },
			tick === from ? '0' : duration(tick - from));
	}));
}

const legend = (kinds) => h('ul.legend', Object.keys(NAMES).filter((kind) => kinds.includes(kind))
	.map((kind) => h('li', svg('svg.bars', { viewBox: '0 4 28 18', 'aria-hidden': 'true' },
		shape(kind, 1, 26)), NAMES[kind])));

const endOf = ({ from, to, due }, end) => Math.max(from, to ?? due ?? end);

function bar({ kind, from, attempt, code, message }, to, at, length) {
	const took = rounded(to - from);
	const title = (attempt ? `attempt ${attempt}: ` : '') + `${NAMES[kind]}, ${took}`
		+ (code ? `, ${code}: ${message}` : '');
	return [
		shape(kind, at(from), percent((to - from) / length), svg('title', title)),
		WAITS.includes(kind) && to - from > LABELLED * length && svg('text.wide-only',
			{ x: at((from + to) / 2), y: 9, 'text-anchor': 'middle' }, took),
	];
}

function shape(kind, x, width, title) {
	const [y, height] = kind === 'delay' ? [11, 4] : WAITS.includes(kind) ? [12, 2] : [6, 14];
	return svg('rect.span', { class: kind, x, y, width, height, rx: height > 2 ? 2 : 0 }, title);
}

function ticksOf(from, to) {
	const length = to - from;
	const step = 1000 * (TICKS_S.find((s) => length / (s * 1000) <= TICKS_MOST) ?? length / 1000 / TICKS_MOST);
	return Array.from({ length: Math.floor(length / step) + 1 }, (_, n) => from + n * step);
}

const percent = (share) => `${(Math.min(1, Math.max(0, share)) * 100).toFixed(2)}%`;
// A wait is planned to the millisecond; shown are whole seconds.
const rounded = (ms) => duration(ms < 60_000 ? ms : Math.round(ms / 1000) * 1000);
