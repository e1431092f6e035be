// Small pieces that the views share, and values as people read them.

import { freshId, h, replace, text } from './dom.js';
import { hashOf, link } from './router.js';

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const UNITS = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3600],
	['minute', 60], ['second', 1]];
const PARTS = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000], ['', Infinity]];
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' };
const TONES = {
	ACTIVE: 'good', SUCCEEDED: 'good', RUNNING: 'info', PENDING: 'info', WAITING: 'info', RETRYING: 'info',
	PAUSED: 'warn', FAILED: 'bad', DEAD_LETTER: 'bad',
};

export const quiet = (...told) => h('span.muted', told);

const timeWith = (iso, shown, title = utc(iso)) => (iso ? h('time', { datetime: iso, title }, shown)
	: quiet('–'));

// `<time>` in the reader's zone, UTC in its title.
export const time = (iso) => timeWith(iso, iso && LOCAL.format(new Date(iso)));

// To the millisecond, with the day unless it is today.
export function clockTime(instant) {
	const at = new Date(instant);
	const day = at.toDateString() === new Date().toDateString() ? {} : { day: 'numeric', month: 'short' };
	const iso = at.toISOString();
	return timeWith(iso, new Intl.DateTimeFormat(undefined, { ...day, ...CLOCK, fractionalSecondDigits: 3 })
		.format(at), iso.replace('T', ' ').replace('Z', ' UTC'));
}

// "5 min. ago"
export function ago(iso) {
	if (!iso) return time(iso);
	const node = timeWith(iso, sinceThen(iso), `${LOCAL.format(new Date(iso))} · ${utc(iso)}`);
	node.className = 'ago';
	return node;
}

function sinceThen(iso) {
	const seconds = (Date.parse(iso) - Date.now()) / 1000;
	const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
	return RELATIVE.format(Math.round(seconds / size), unit);
}

setInterval(() => {
	for (const node of document.querySelectorAll('.ago')) node.textContent = sinceThen(node.dateTime);
}, 5000);

// "Mon, 2 Mar 2026, 09:00:00 CET"
export function timeIn(iso, timeZone) {
	try {
		return timeWith(iso, new Intl.DateTimeFormat(undefined, { timeZone, weekday: 'short', day: 'numeric',
			month: 'short', year: 'numeric', ...CLOCK, timeZoneName: 'short' }).format(new Date(iso)));
	} catch {
		return timeWith(iso, utc(iso)); // a zone this browser does not know
	}
}

// 850 → "850 ms", 12300 → "12.3 s", 3_720_000 → "1 h 2 min".
export function duration(ms) {
	if ((ms ?? null) === null) return '–';
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`;
	const first = PARTS.findIndex(([, size]) => ms >= size);
	const [[unit, size], [nextUnit, nextSize]] = PARTS.slice(first, first + 2);
	const rest = Math.floor((ms % size) / nextSize);
	return `${Math.floor(ms / size)} ${unit}${rest ? ` ${rest} ${nextUnit}` : ''}`;
}

export const took = ({ startedAt, finishedAt }) => duration(startedAt && finishedAt
	&& Date.parse(finishedAt) - Date.parse(startedAt));

export const hoursAgo = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString();

export const json = (value) => JSON.stringify(value, null, 2) ?? '';

// "2026-03-02 08:00:00 UTC"
export const utc = (iso) => iso && `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

// RECORD_CREATED → "Record created", timeZone → "Time zone"
export function words(name) {
	const low = String(name).replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ').toLowerCase();
	return (low[0]?.toUpperCase() ?? '') + low.slice(1).replace(/^i /, 'I ');
}

export const many = (count, thing) => `${count.toLocaleString()} ${thing}${count === 1 ? '' : 's'}`;

export const badge = (status) => h('span.badge', { class: TONES[status] }, words(status));

export const isLive = ({ status }) => status === 'PENDING' || status === 'RUNNING';
export const automationHash = (id) => `#/automations/${encodeURIComponent(id)}`;
export const runHash = (id, automation) => hashOf(`/runs/${encodeURIComponent(id)}`, { automation });
export const toAutomations = (looks) => link('#/automations', 'To the automations',
	{ class: `button ${looks}` });

export const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0);

export const head = (title, told, ...more) => h('div.head',
	h('div', h('h1', title), told && h('p', told)), more);
export const empty = (title, told, more) => h('div.empty', title && h('h2', title), h('p', told), more);
export const folded = (title, ...body) => h('details', h('summary', title), body);

export const facts = (entries) => entries.map(([term, value]) => [h('dt', term), h('dd', value)]);

export const columnHeads = (titles, classes = {}) => h('thead', h('tr', titles.map((title) => h('th',
	{ scope: 'col', class: classes[title] }, title))));

export const select = (options, value, props) => h('select',
	{ ...props, value: (options.find(([one]) => one === value) ?? options[0])[0] },
	options.map(([one, told]) => h('option', { value: one }, told)));

export function labelled(title, control) {
	control.id = freshId('field');
	return h('div.field', h('label', { for: control.id }, title), control);
}

export const pre = (value, label) => h('pre.json', { tabindex: 0, label }, json(value));

// "code NOT_FOUND attempts 1"
export const inLine = (data) => Object.entries(data).map(([key, value]) => h('span.pair-of', quiet(key), ' ',
	text(value), ' '));

// `update(…values)` shows `draw(…values)`; equal values leave the node, focus included.
export function slot(draw, name = 'div.slot', props = {}) {
	let drawn;
	const node = h(name, props);
	return Object.assign(node, { update(...values) {
		const told = JSON.stringify(values);
		if (told !== drawn) replace(node, draw(...values));
		drawn = told;
	} });
}

// Calls `fn`, one call at a time, while the page is visible.
export function poll(fn, everyMs, signal) {
	let timer = null;
	const stop = () => clearTimeout(timer);
	const plan = () => {
		stop();
		if (!signal.aborted && !document.hidden) timer = setTimeout(turn, everyMs);
	};
	// After a failure the next turn may have better luck.
	const turn = () => Promise.resolve().then(fn).catch(() => {}).then(plan);
	document.addEventListener('visibilitychange', () => (document.hidden ? stop() : turn()), { signal });
	signal.addEventListener('abort', stop);
	plan();
}
