// Controls for a value of a draft, menus to pick from, and faults shown where they are.
// `set(undefined)` leaves the value out; `insert(text)` takes a template.

import { readJson } from './api.js';
import { button, freshId, h, iconButton, replace, text } from './dom.js';

// `read` makes the value of what is typed.
export function textInput(value, set, { area, read = (typed) => typed || undefined, ...props } = {}) {
	const oninput = () => set(read(input.value));
	const input = h(area ? 'textarea' : 'input', { spellcheck: 'false', autocomplete: 'off',
		rows: area && 3, ...props, value: text(value ?? ''), oninput });
	input.insert = (token) => {
		input.setRangeText(token, input.selectionStart, input.selectionEnd, 'end');
		input.focus();
		oninput();
	};
	return input;
}

// Other text stays one, for templates.
export const numberInput = (value, set, props) => textInput(value, set, { ...props, read: (typed) => (
	/^\s*-?(0|[1-9]\d*)(\.\d+)?\s*$/.test(typed) ? readJson(typed) : typed.trim() || undefined) });

// Text that is no JSON stands for itself, marked if it begins like JSON.
export function jsonInput(value, set, props) {
	const parsed = (typed) => {
		try {
			return { is: readJson(typed) };
		} catch {
			return null;
		}
	};
	const isText = value === undefined || (typeof value === 'string' && !parsed(value));
	const input = textInput(isText ? value : JSON.stringify(value, null, 2), set, {
		area: true, class: 'mono', ...props, read: (typed) => {
			const found = typed.trim() ? parsed(typed) : { is: undefined };
			input.setAttribute('aria-invalid', !found && /^\s*(\{(?!\{)|\[|")/.test(typed));
			return found ? found.is : typed;
		} });
	return input;
}

export const linesInput = (value, set, props) => textInput(Array.isArray(value)
	? value.map(text).join('\n') : value, set, { area: true, ...props, read: (typed) => {
	const lines = typed.split('\n').map((line) => line.trim()).filter(Boolean);
	return lines.length ? lines : undefined;
} });

// One of `known` ([[value, label]]). `empty` labels no value; `other` any text besides.
export function choice(value, set, known, { empty, other, ...props } = {}) {
	const isNew = (value ?? '') !== '' && !known.some(([one]) => one === value);
	const options = isNew && !other ? [...known, [value, value]] : known;
	const at = options.findIndex(([one]) => one === value);
	const isOther = isNew && at < 0;
	const write = () => set(select.value === 'other' ? typed.value || undefined : options[select.value]?.[0]);
	const select = h('select', { ...props, onchange() {
		typed.hidden = select.value !== 'other';
		write();
		if (!typed.hidden) typed.focus();
	} },
	(empty || at < 0) && h('option', { value: '' }, empty || 'Choose …'),
	options.map(([, label], i) => h('option', { value: i }, label)),
	other && h('option', { value: 'other' }, other));
	select.value = at >= 0 ? at : isOther ? 'other' : '';
	const typed = textInput(isOther ? value : '', write, { label: other, hidden: !isOther });
	return !other ? select : Object.assign(h('div.choice', select, typed), { labelled: select, insert(token) {
		select.value = 'other';
		typed.hidden = false;
		typed.insert(token);
	} });
}

export function several(value, set, options) {
	const chosen = new Set([value ?? []].flat());
	const unknown = [...chosen].filter((one) => !options.some(([known]) => known === one));
	const every = [...options, ...unknown.map((one) => [one, one])];
	return h('div.row', every.map(([one, label]) => check(label, chosen.has(one), ({ target }) => {
		chosen[target.checked ? 'add' : 'delete'](one);
		set(chosen.size ? every.map(([each]) => each).filter((each) => chosen.has(each)) : undefined);
	})));
}

export const check = (label, checked, onchange) => h('label.check',
	h('input', { type: 'checkbox', checked: Boolean(checked), onchange }), label);

// Rows of the controls `name(key, set)` and `control(key, value, set)`.
export function pairs(object, set, { name, control, path, add, fresh, blank }) {
	const rows = Object.entries(object ?? {});
	const list = h('div.stack.tight');
	const write = () => set(Object.fromEntries(rows.filter(([key]) => key)));
	const draw = () => replace(list, rows.map(line));
	function line(row, i) {
		const value = h('div');
		const drawValue = () => replace(value, control(...row, (now) => { row[1] = now; write(); }));
		const node = h('div.pair', { 'data-path': at(path, row[0]) }, name(row[0], (key = '') => {
			row[0] = key;
			node.dataset.path = at(path, key);
			write();
			drawValue();
		}), value, iconButton('×', `Remove ${row[0]}`, () => {
			rows.splice(i, 1);
			write();
			draw();
			more.focus();
		}), h('p.error'));
		drawValue();
		return node;
	}
	const more = button(`+ ${add}`, () => {
		rows.push([fresh?.(rows.map(([key]) => key)) ?? '', blank]);
		write();
		draw();
		list.lastElementChild.querySelector('input, select').focus();
	}, { class: 'quiet' });
	draw();
	return h('div.stack.tight', list, h('div', more));
}

// `path`: where the value stands in the request, so that a refusal finds it.
export function field({ path, label, hint, required, tools }, control) {
	const target = control.labelled ?? control;
	const single = target.matches('input, select, textarea');
	const id = freshId('field');
	for (const [key, value] of Object.entries({ id, 'aria-describedby': `${id}-note`,
		...single ? required && { 'aria-required': true }
			: { role: 'group', 'aria-labelledby': `${id}-label` } })) target.setAttribute(key, value);
	return h('div.field', { 'data-path': path },
		h('div.row', h(single ? 'label.label' : 'span.label', { for: single && id, id: `${id}-label` }, label),
			required && h('span.muted', { 'aria-hidden': 'true' }, '*'), tools),
		control,
		h('div', { id: `${id}-note` }, hint && h('p.hint', hint), h('p.error')));
}

const CONTROL = 'input, select, textarea';

// 'actions[0].config', 'First Name' → 'actions[0].config["First Name"]', as the API writes it.
export function at(path, key) {
	const isPlain = /^[^\s\x00-\x20!-,./:-@[-^`{-\x7f]+$/.test(key);
	return isPlain ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

// Shows the details of a 422 at their places, goes to the first, and answers those without a place.
export function showFaults(root, details) {
	const places = [...root.querySelectorAll('[data-path]')];
	places.forEach(forgive);
	root.oninput = ({ target }) => forgive(target.closest('[data-path]') ?? root);
	const met = new Set();
	const elsewhere = details.filter(({ path, message }) => {
		const [place] = places.filter((one) => path.startsWith(one.dataset.path))
			.reverse().sort((a, b) => b.dataset.path.length - a.dataset.path.length);
		met.add(place);
		const rest = place && path.slice(place.dataset.path.length).replace(/^\./, '');
		if (place) mark(place, rest ? `${rest}: ${message}` : message);
		return !place;
	});
	const first = places.find((one) => met.has(one));
	(first?.querySelector(CONTROL) ?? first?.querySelector('button'))?.focus();
	first?.scrollIntoView({ block: 'center' });
	return elsewhere.map(({ path, message }) => `${path}: ${message}.`);
}

export async function checked(root, work) {
	showFaults(root, []);
	try {
		await work();
	} catch (error) {
		if (error.status !== 422) throw error;
		showFaults(root, error.details);
	}
}

const slotOf = (place) => [...place.querySelectorAll('.error')]
	.find((one) => one.closest('[data-path]') === place);

function forgive(place) {
	const slot = slotOf(place);
	if (!slot?.textContent) return;
	slot.textContent = '';
	place.querySelector('[aria-invalid]')?.removeAttribute('aria-invalid');
}

function mark(place, message) {
	const slot = slotOf(place);
	slot.textContent += `${slot.textContent && '; '}${message}`;
	if (place.matches('.field, .pair')) place.querySelector(CONTROL)?.setAttribute('aria-invalid', 'true');
	const box = place.closest('details');
	if (box) box.open = true;
}

// `groups()`: `[[title, [[label, pick], …]], …]`.
export function menu(label, text, looks, groups) {
	const id = freshId('menu');
	const opener = h('button', { class: looks, type: 'button', popovertarget: id, label }, text);
	const item = ([title, pick]) => h('li', h('button', { type: 'button', onclick() {
		list.hidePopover();
		pick();
	} }, title));
	const list = h('div.menu', { id, popover: 'auto', role: 'dialog', label, onbeforetoggle() {
		replace(list, groups().filter(([, items]) => items.length).map(([title, items]) => [
			title && h('h3', title), h('ul', items.map(item))]));
		const { left, bottom } = opener.getBoundingClientRect();
		list.style.left = `${Math.max(8, Math.min(left, innerWidth - 288))}px`;
		list.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - 328))}px`;
	} });
	return [opener, list];
}

// "First Name" → `record["First Name"]`, as templates name a property.
export const recordPath = (name) => (/^[\p{L}\p{N}_-]+$/u.test(name) ? `record.${name}`
	: `record[${JSON.stringify(name)}]`);

const OUTPUTS = { CREATE_RECORD: 'recordId', UPDATE_RECORD: 'recordId changedProperties',
	DELETE_RECORD: 'recordId', CREATE_PAGE: 'pageId', CREATE_NOTIFICATION: 'notificationIds',
	SEND_EMAIL: 'messageId', SEND_WEBHOOK: 'status headers body ms', AI_GENERATE: 'text usage stopReason',
	DELAY: 'resumedAt' };

// Puts a template into `control`; `scene` as in form_fields.js.
export function hintButton(label, control, scene, secrets) {
	const places = () => ({
		Record: ['id', ...(scene.database()?.properties ?? []).map(({ name }) => name)].map(recordPath),
		'Earlier actions': scene.before().flatMap((type, i) => OUTPUTS[type].split(' ')
			.map((key) => `actions[${i}].output.${key}`)),
		Event: ['trigger.type', 'trigger.recordId', 'trigger.payload'],
		Run: ['now', 'run.id', 'run.createdAt', 'automation.name', 'workspace.name'],
		Secrets: secrets ? scene.secrets.map(({ name }) => `secrets.${name}`) : [],
	});
	return menu(`Insert a value into ${label}`, '{ }', 'icon braces', () => Object.entries(places()).map(
		([title, paths]) => [title, paths.map((path) => [path, () => control.insert(`{{${path}}}`)])]));
}
