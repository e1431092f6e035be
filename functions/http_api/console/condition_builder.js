// Builds a condition: groups of comparisons.

import { OPERATORS } from './automation.js';
import { choice, jsonInput, linesInput, textInput } from './controls.js';
import { button, h, iconButton, replace } from './dom.js';
import { valueInput } from './form_fields.js';

const JOINS = [['and', 'All of these'], ['or', 'Any of these'], ['not.and', 'Not all of these'],
	['not.or', 'None of these']];
const TEXTS = ['contains', 'not_contains', 'starts_with', 'ends_with', 'matches'];
const kindOf = (operator) => (['is_empty', 'is_not_empty', 'changed'].includes(operator) ? 'none'
	: ['in', 'not_in'].includes(operator) ? 'list' : 'one');

// `set` gets it at once in the builder's form, and after each change.
export function conditionBuilder(condition, set, scene) {
	const box = h('div.stack.tight', { 'data-path': 'condition' });
	const write = () => set(root && closed(root));
	const properties = () => scene.database()?.properties;
	const comparison = () => ({ operator: 'eq',
		field: { ref: 'property', name: properties()?.[0]?.name ?? '' } });
	let root = condition && opened(condition);
	if (root && !root.join) root = { join: 'and', items: [root] };

	function draw(focused) {
		write();
		replace(box, root ? group(root, 'condition', () => { root = null; draw('button'); })
			: [h('p.muted', 'Always: every event of a trigger starts a run.'),
				h('div', button('+ Add a condition', () => {
					root = { join: 'and', items: [comparison()] };
					draw('.leaf select');
				}, { class: 'quiet' }))], h('p.error'));
		if (focused) box.querySelector(focused).focus();
	}

	// What one chooses from keeps its place and the focus; what depends on it is drawn anew.
	function group(node, path, remove) {
		const { items } = node;
		const plus = (what, item) => button(`+ ${what}`, () => {
			items.push(item());
			draw(`[data-path="${own.dataset.path}.${node.join}[${items.length - 1}]"] select`);
		}, { class: 'quiet' });
		const own = h('fieldset.group', { 'data-path': path },
			h('legend.hidden', 'Group of conditions'),
			h('div.row', choice(node.join, (join) => {
				const [before, now] = [node.join, join].map((one) => `${own.dataset.path}.${one}[`);
				for (const { dataset } of own.querySelectorAll('[data-path]')) {
					dataset.path = dataset.path.replace(before, now);
				}
				node.join = join;
				write();
			}, JOINS, { label: 'How this group joins' }),
			iconButton('×', 'Remove this group', remove, { class: 'push' })),
			items.map((item, i) => (item.join ? group : leaf)(item, `${path}.${node.join}[${i}]`, () => {
				items.splice(i, 1);
				if (items.length) draw('select');
				else remove();
			})),
			h('div.row', plus('Condition', comparison),
				plus('Group', () => ({ join: node.join === 'and' ? 'or' : 'and', items: [comparison()] }))),
			h('p.error'));
		return own;
	}

	function leaf(node, path, remove) {
		const known = properties();
		const typed = h('div');
		const value = h('div');
		const part = (key, ...controls) => h('div.field', { 'data-path': `${path}.${key}` },
			h('div.choice', controls), h('p.error'));
		function drawRest() {
			const { ref } = node.field;
			const key = ref === 'event' ? 'path' : 'name';
			replace(typed, textInput(node.field[key], (now = '') => { node.field[key] = now; write(); },
				{ label: `${key} of it`, placeholder: ref === 'event' ? 'payload.total' : 'Name' }));
			typed.hidden = ref === 'property' && known;
			replace(value, kindOf(node.operator) !== 'none' && valueControl(node));
			write();
		}
		const names = known?.map(({ name }) => name) ?? [''];
		const { ref, name = names[0] } = node.field;
		const field = choice(ref === 'event' || (known ? name : ''), (now) => {
			node.field = now === true ? { ref: 'event', path: '' } : { ref: 'property', name: now };
			delete node.value;
			drawRest();
		}, [...[...new Set(known ? [...names, name] : names)].map((one) => [one, one || 'Property …']),
			[true, 'Event value …']], { label: 'What to look at' });
		const operator = choice(node.operator, (now) => {
			if (kindOf(now) !== kindOf(node.operator)) delete node.value;
			node.operator = now;
			drawRest();
		}, Object.entries(OPERATORS), { label: 'How to compare' });
		drawRest();
		return h('div.leaf', { 'data-path': path },
			part('field', field, typed), part('operator', operator), part('value', value),
			iconButton('×', 'Remove this condition', remove), h('p.error'));
	}

	function valueControl(node) {
		const { operator, value, field: { name } } = node;
		const props = { label: 'Value to compare with', rows: 1 };
		const put = (now) => { node.value = now; write(); };
		const type = properties()?.find((one) => one.name === name)?.type;
		if (kindOf(operator) === 'list') {
			return type === 'number' || (value ?? []).some?.((one) => typeof one !== 'string')
				? jsonInput(value, put, { placeholder: '[1, 2]', ...props })
				: linesInput(value, put, { placeholder: 'One a line', ...props });
		}
		if (TEXTS.includes(operator) && type !== 'multi_select') return textInput(value, put, props);
		return !type || type === 'multi_select' ? jsonInput(value, put, props)
			: valueInput(name, scene.database(), value, put, scene, props.label);
	}
	draw();
	return box;
}

// In the builder's form a group has `join` ("and", "not.or") and `items`.
function opened(node) {
	const inner = node.not ?? node;
	const op = ['and', 'or'].find((name) => name in inner);
	const not = node.not ? 'not.' : '';
	if (op) return { join: not + op, items: inner[op].map(opened) };
	return not ? { join: 'not.and', items: [opened(inner)] } : { ...node };
}

function closed({ join, items, ...leaf }) {
	if (!join) return leaf;
	const inner = { [join.replace('not.', '')]: items.map(closed) };
	return join.startsWith('not.') ? { not: inner } : inner;
}
