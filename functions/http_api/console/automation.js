// What the views of one automation share.

import { button, freshId, h, text } from './dom.js';
import { labelOf } from './form_fields.js';
import { ask, say } from './notice.js';
import { automationHash, badge, facts, quiet, words } from './parts.js';
import { link } from './router.js';
import { session } from './session.js';

const VIEWS = [['', 'Overview', 'VIEWER'], ['/edit', 'Edit', 'EDITOR'],
	['/versions', 'Versions', 'VIEWER'], ['/dry-run', 'Dry run', 'EDITOR']];

export const mayEdit = ({ status }) => session.can('EDITOR') && status !== 'ARCHIVED';

// `current`: the end of this view's address.
export const automationHead = ({ id, name, status, description }, current, ...controls) => [
	h('div.head',
		h('div', crumb(), h('div.row', h('h1', name), badge(status)), description && h('p', description)),
		h('div.row', controls)),
	h('nav.tabs', { label: 'This automation' }, VIEWS
		.filter(([end, , role]) => session.can(role) && (status !== 'ARCHIVED' || end !== '/edit'))
		.map(([end, title]) => link(automationHash(id) + end, title,
			{ 'aria-current': end === current && 'page' }))),
];

export const crumb = () => h('p.crumb', link('#/automations', 'Automations'));

const USUAL = { catchUp: 'none', catchUpWindow: 3600, overlap: 'allow', requireSignature: false,
	maxTokens: 1024 };

// When, if, then, in words; `names`: id → name of databases.
export function definition({ triggers, condition, actions }, names) {
	const shown = (value) => names.get(value) ?? (value === 'from_trigger' ? 'The record of the event'
		: Array.isArray(value) ? value.map(text).join(', ')
			: value?.constructor === Object ? list(Object.entries(value)) : text(value));
	const list = (entries) => h('dl.facts', facts(entries.map(([key, value]) => [key, shown(value)])));
	const part = ({ type, config }) => h('div', h('strong', words(type)), h('div.small', list(
		Object.entries(config).filter(([key, value]) => USUAL[key] !== value && text(value) !== '{}')
			.map(([key, value]) => [labelOf(key), value]))));
	return h('dl.definition',
		h('dt', 'When'),
		h('dd.stack.tight', triggers.length ? triggers.map(part) : quiet('Only when a person starts it')),
		h('dt', 'If'), h('dd', condition ? conditionTree(condition) : quiet('Always')),
		h('dt', 'Then'), h('dd', actions.length ? numbered(actions.map(part)) : quiet('Nothing')));
}

export const numbered = (nodes) => h('ol.stack', nodes.map((node, i) => h('li.numbered',
	h('span.number', { 'aria-hidden': 'true' }, i + 1), node)));

export const OPERATORS = {
	eq: 'is', neq: 'is not', gt: 'is more than', gte: 'is at least', lt: 'is less than',
	lte: 'is at most', contains: 'contains', not_contains: 'does not contain',
	starts_with: 'starts with', ends_with: 'ends with', in: 'is one of', not_in: 'is none of',
	matches: 'matches the pattern', is_empty: 'is empty', is_not_empty: 'is not empty',
	changed: 'has changed',
};
const JOINS = { and: 'All of', or: 'Any of', not: 'Not' };
const RESULTS = { true: ['good', 'holds'], false: ['bad', 'does not hold'], null: ['warn', 'unknown'] };

// With `explain` each part says what became of it.
export const conditionTree = (condition, explain) => h('ul.tree', branch(condition, explain));

function branch(node, explain) {
	const op = Object.keys(JOINS).find((name) => name in node);
	const [tone, said] = RESULTS[explain?.result] ?? [];
	return h('li',
		op ? JOINS[op] : comparison(node, explain),
		said && h('span.result', { class: tone }, said),
		op && h('ul', [node[op]].flat().map((one, i) => branch(one, explain?.args?.[i]))));
}

const comparison = ({ field, operator, value }, explain) => h('span',
	h('strong', field.name ?? `event ${field.path}`), ` ${OPERATORS[operator]} `,
	value !== undefined && h('code', JSON.stringify(value)),
	explain && h('span.muted', ' · found ', h('code', JSON.stringify(explain.left))));

export const showWebhook = ({ url, secret }) => ask({
	title: 'The webhook’s address',
	body: h('div.stack',
		h('p', 'Copy it now: it is shown this once. Whoever knows it can start this automation.'),
		line('URL', url), line('Secret for signatures', secret)),
	confirm: 'I have copied it', cancel: null,
});

function line(label, value) {
	const id = freshId('once');
	const input = h('input.mono', { id, readonly: true, value });
	return h('div.field', h('label', { for: id }, label), h('div.with-hints', input, button('Copy', () => {
		input.select(); // for the keyboard, where the page may not write to the clipboard
		navigator.clipboard.writeText(value).then(() => say('Copied'), () => {});
	}, { label: `Copy ${label}` })));
}
