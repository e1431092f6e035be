// The triggers and the actions of a draft.

import { post } from './api.js';
import { field, menu, numberInput } from './controls.js';
import { h, iconButton, replace } from './dom.js';
import { configFields } from './form_fields.js';
import { say } from './notice.js';
import { timeIn, words } from './parts.js';

const MOST = 3;
const PAUSE_MS = 300; // of typing

// `rescoped`: another database may count.
export function triggerForms(draft, forms, scene, changed, rescoped) {
	const box = h('div.stack.tight', { 'data-path': 'triggers' });
	const add = (type) => {
		draft.triggers.push({ type, config: {} });
		draw();
		focusIn([...box.querySelectorAll('.part')].at(-1));
	};
	// An automation has one webhook at most.
	const types = () => Object.keys(forms)
		.filter((type) => type !== 'WEBHOOK' || !draft.triggers.some((one) => one.type === type));
	function draw() {
		changed();
		replace(box, draft.triggers.map(part),
			!draft.triggers.length && h('p.muted', 'Nothing starts it yet, except a person.'),
			draft.triggers.length < MOST && adder('Add a trigger', types, add),
			h('p.error'));
	}
	function part({ type, config }, i) {
		const path = `triggers[${i}]`;
		const preview = type === 'SCHEDULE' && schedulePreview(config);
		const nodes = configFields(forms[type], config, `${path}.config`, scene, (key) => {
			changed();
			preview?.refresh?.();
			if (key === 'databaseId') rescoped();
		});
		// The automation's own database comes first.
		if (draft.databaseId && !config.databaseId) delete nodes.databaseId;
		const fields = Object.values(nodes);
		const remove = iconButton('×', `Remove the trigger ${words(type)}`, () => {
			draft.triggers.splice(i, 1);
			draw();
			rescoped();
			box.querySelector('.button').focus();
		}, { class: 'push' });
		return h('section.part', { 'data-path': path, label: words(type) },
			h('div.row', h('h3', words(type)), remove),
			fields.length > 0 && h('div.grid', fields, preview), h('p.error'));
	}
	draw();
	return box;
}

const adder = (label, types, add) => h('div', menu(label, `+ ${label}`, 'button quiet',
	() => [['', types().map((type) => [words(type), () => add(type)])]]));
const focusIn = (part) => (part.querySelector('.grid :is(input, select, textarea)')
	?? part.querySelector('button')).focus();

function schedulePreview(config) {
	const list = h('div', { role: 'status' });
	let timer;
	async function show() {
		const mine = timer;
		const { cron, runEvery, timeZone } = config;
		const node = await post('/schedules/preview', { cron, runEvery, timeZone }, { key: false })
			.then(({ next, timeZone: zone }) => h('ol.preview', next.map((iso) => h('li', timeIn(iso, zone)))),
				({ message }) => h('p.muted', message));
		if (mine === timer) replace(list, node);
	}
	const refresh = () => {
		clearTimeout(timer);
		timer = setTimeout(show, PAUSE_MS);
	};
	refresh();
	return Object.assign(h('div.field', h('span.label', 'Next times'), list), { refresh });
}

export function actionForms(draft, forms, scene, changed) {
	const { actions } = draft;
	const list = h('ol.stack.tight');
	const nothing = h('p.muted', 'It does nothing yet.');
	const part = (i) => list.children[i]?.firstChild;
	const add = (type) => {
		actions.push({ type, config: {} });
		draw();
		focusIn(part(actions.length - 1));
	};
	const box = h('div.stack.tight', { 'data-path': 'actions' }, list, nothing,
		adder('Add an action', () => Object.keys(forms), add), h('p.error'));
	function move(i, by) {
		const to = i + by;
		actions.splice(to, 0, ...actions.splice(i, 1));
		draw();
		const movers = [...part(to).querySelectorAll('[data-by]')];
		(movers.find((one) => one.dataset.by === String(by) && !one.disabled)
			?? movers.find((one) => !one.disabled)).focus();
		say(`Moved to place ${to + 1} of ${actions.length}`, 'quiet');
	}
	function remove(i) {
		actions.splice(i, 1);
		draw();
		(part(Math.min(i, actions.length - 1)) ?? box).querySelector('button:enabled').focus();
	}
	function draw() {
		changed();
		nothing.hidden = actions.length > 0;
		replace(list, actions.map((action, i) => h('li', form(action, i))));
	}
	function form(action, i) {
		const { type, config } = action;
		const label = words(type);
		const path = `actions[${i}]`;
		const mover = (sign, by, where) => iconButton(sign, `Move ${label} ${where}`, () => move(i, by),
			{ 'data-by': by, disabled: !actions[i + by] });
		const limit = (key, hint) => field({ path: `${path}.${key}`, label: words(key), hint },
			numberInput(action[key], (value) => { action[key] = value ?? null; changed(); }));
		return h('section.part', { 'data-path': path, label: `${i + 1}. ${label}` },
			h('div.row', h('span.number', { 'aria-hidden': 'true' }, i + 1), h('h3', label),
				h('div.row.push', mover('↑', -1, 'up'), mover('↓', 1, 'down'),
					iconButton('×', `Remove ${label}`, () => remove(i)))),
			h('div.grid', Object.values(configFields(forms[type], config, `${path}.config`,
				{ ...scene, before: () => actions.slice(0, i).map((one) => one.type) }, changed))),
			h('details', { open: Boolean(action.retries ?? action.timeoutMs) },
				h('summary.muted.small', 'Retries and time limit'),
				h('div.grid',
					limit('retries', 'After failures that may pass; 0 to 20. Empty: the deployment’s own.'),
					limit('timeoutMs', 'Of one try, in ms; 1,000 to 120,000. Empty: 30,000.'))),
			h('p.error'));
	}
	draw();
	return box;
}
