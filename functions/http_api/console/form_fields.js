// The fields of a trigger's or an action's config, made from the engine's own schemas.

import {
	at, check, choice, field, hintButton, jsonInput, linesInput, numberInput, pairs, recordPath, several,
	textInput,
} from './controls.js';
import { freshId, h } from './dom.js';
import { words } from './parts.js';

let loaded;

// `{Trigger, Action}`: type → its config's specs, `[{key, required, type?, enum?, default? …}, …]`.
export function formsOfSchemas() {
	loaded ??= fetch('/openapi.json').then((answer) => (answer.ok ? answer.json()
		: Promise.reject(new Error('The API’s description cannot be read.'))))
		.then(({ components: { schemas } }) => Object.fromEntries(['Trigger', 'Action'].map((name) => [name,
			Object.fromEntries(schemas[name].oneOf.map(({ properties: { type, config } }) => [type.const,
				fieldsOf(schemas[config.$ref.split('/').at(-1)])]))])));
	loaded.catch(() => { loaded = undefined; });
	return loaded;
}

function fieldsOf({ properties, required = [] }) {
	return Object.entries(properties).map(([key, schema]) => {
		const branches = (schema.anyOf ?? [schema]).filter(({ type }) => type !== 'null');
		return { ...schema, ...branches[0], key, required: required.includes(key) };
	});
}

const CRONS = [['0 * * * *', 'Every hour'], ['0 9 * * *', 'Every day at 9:00'],
	['0 9 * * 1-5', 'Monday to Friday at 9:00'], ['0 9 * * 1', 'Every Monday at 9:00'],
	['0 9 1 * *', 'First of the month at 9:00']];
const LABELS = { databaseId: 'Database', recordId: 'Record', propertyValues: 'Values', userIds: 'People',
	pageId: 'Page', parentId: 'Under page', modelId: 'Model', cron: 'At fixed times', html: 'HTML',
	url: 'URL' };
const HINTS = {
	pageId: 'This page and those right below it. Empty: every page.',
	runEvery: 'Seconds, instead of fixed times.', catchUp: 'Of times that were missed.',
	catchUpWindow: 'Seconds.', overlap: 'While the run before is still at work.',
	secret: '24 to 64 bytes. Empty: the present one, or a new random one.',
	to: 'One address a line.', until: 'Like 2026-03-02T09:00:00Z.', html: 'Values are escaped.',
	audience: 'Admins, unless said otherwise.',
};
const LONG = new Set(['text', 'html', 'content', 'prompt', 'system', 'body']);
// To set one of two such keys clears the other.
const INSTEAD = { cron: 'runEvery', runEvery: 'cron', seconds: 'until', until: 'seconds',
	userIds: 'audience', audience: 'userIds' };

export const labelOf = (key) => LABELS[key] ?? words(key);

// The fields of `specs`, by key; they change `config` in place.
// `scene`: `{databases, members, secrets, database(), before?()}`; only actions have `before` and templates.
export function configFields(specs, config, path, scene, changed) {
	const nodes = {};
	const specOf = (key) => specs.find((spec) => spec.key === key);
	const make = (key) => fieldOf(specOf(key), config, at(path, key), scene, (value) => {
		config[key] = value;
		const other = INSTEAD[key];
		if (value !== undefined && config[other] !== undefined) {
			delete config[other];
			redraw(other);
		}
		if (key === 'databaseId' || key === 'recordId') redraw('propertyValues');
		changed(key);
	});
	function redraw(key) {
		const before = nodes[key];
		if (before) before.replaceWith(nodes[key] = make(key));
	}
	for (const { key } of specs) nodes[key] = make(key);
	return nodes;
}

function fieldOf(spec, config, path, scene, set) {
	const { key, type, required } = spec;
	const label = labelOf(key);
	if (type === 'boolean') {
		return h('div.field', { 'data-path': path },
			check(label, config[key], ({ target }) => set(target.checked)), h('p.error'));
	}
	const control = (BY_KEY[key] ?? byType)(config[key], set, { spec, config, path, scene });
	return field({ path, label, hint: HINTS[key], required, tools: scene.before && control.insert
		&& hintButton(label, control, scene, !type || key === 'signingSecret') }, control);
}

const named = (list) => list.map(({ id, name }) => [id, name]);
const people = (scene) => scene.members.map(({ userId, email, name }) => [userId, name ?? email]);
const namesOf = (list) => (list ?? []).map(({ name }) => [name, name]);
const template = (scene) => scene.before && 'Id or template';

const BY_KEY = {
	databaseId: (value, set, { spec, scene }) => choice(value, set, named(scene.databases),
		{ empty: !spec.required && 'None', other: template(scene) }),
	recordId: (value, set, { scene }) => choice(value, set, [['from_trigger', 'The record of the event']],
		{ other: template(scene) }),
	properties: (value, set, { scene }) => several(value, set,
		[['*', 'Any'], ...namesOf(scene.database()?.properties)]),
	userIds: (value, set, { scene }) => several(value, set, [...people(scene),
		...(scene.database()?.properties ?? []).filter(({ type }) => type === 'person')
			.map(({ name }) => [`{{${recordPath(name)}}}`, `${name} of the record`])]),
	cron: (value, set) => choice(value, set, CRONS, { empty: 'None', other: 'Cron expression' }),
	secret: (value, set) => textInput(value, set, { type: 'password', autocomplete: 'new-password' }),
	timeZone: (value, set) => {
		const id = freshId('zones');
		const labelled = textInput(value ?? 'UTC', set, { list: id });
		return Object.assign(h('div', labelled, h('datalist', { id }, Intl.supportedValuesOf('timeZone')
			.map((zone) => h('option', { value: zone })))), { labelled });
	},
	headers: headerRows,
	propertyValues: valueRows,
};

function headerRows(value, set, { path, scene }) {
	return pairs(value, (now) => set(Object.keys(now).length ? now : undefined), {
		path, add: 'Add a header', blank: '',
		name: (key, rename) => textInput(key, rename, { label: 'Header', placeholder: 'Name' }),
		control: (key, text, put) => hinted(textInput(text, (now = '') => put(now),
			{ label: `Value of ${key}` }), key, scene, true) });
}

function byType(value, set, { spec }) {
	const { key, type, minimum, maximum, default: usual } = spec;
	if (spec.enum) {
		return choice(value ?? usual ?? undefined, set,
			spec.enum.map((one) => [one, key === 'method' ? one : words(one)]), { empty: !usual && '–' });
	}
	if (type === 'integer' || type === 'number') {
		return numberInput(value, set, { placeholder: usual ?? (maximum ? `${minimum} to ${maximum}` : null) });
	}
	return type === 'array' ? linesInput(value, set)
		: type ? textInput(value, set, { area: LONG.has(key) })
			: jsonInput(value, set, { placeholder: 'JSON or text' });
}

function valueRows(value, set, { config, path, scene }) {
	const isOfEvent = !config.databaseId && (config.recordId ?? 'from_trigger') === 'from_trigger';
	const database = isOfEvent ? scene.database() : scene.databases.find(({ id }) => id === config.databaseId);
	const names = namesOf(database?.properties);
	return pairs(value, set, {
		path, add: 'Add a value', blank: null,
		fresh: (taken) => names.find(([name]) => !taken.includes(name))?.[0],
		name: (key, rename) => (names.length ? choice : textInput)(key, rename, names.length ? names : {
			label: 'Property', placeholder: 'Property' }, { label: 'Property' }),
		// An empty value is null: it clears the property.
		control: (key, now, put) => hinted(valueInput(key, database, now ?? undefined,
			(next = null) => put(next), scene, `Value of ${key}`), key, scene) });
}

export function valueInput(key, database, value, set, scene, label) {
	const { type, options } = database?.properties.find(({ name }) => name === key) ?? {};
	const props = { label };
	const known = { checkbox: [[true, 'Yes'], [false, 'No']], person: people(scene),
		select: namesOf(options) }[type];
	if (known) return choice(value, set, known, { empty: 'Empty', other: 'Other text', ...props });
	if (type === 'multi_select' && typeof value !== 'string') return several(value, set, namesOf(options));
	if (Object(value) === value) return jsonInput(value, set, { rows: 1, ...props });
	return type === 'number' ? numberInput(value, set, props)
		: textInput(value, set, { placeholder: type === 'date' && '2026-03-02', ...props });
}

const hinted = (control, label, scene, secrets) => (control.insert
	? h('div.with-hints', control, hintButton(label, control, scene, secrets)) : control);
