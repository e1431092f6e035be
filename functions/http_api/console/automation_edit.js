// Makes and changes an automation.

import { all, get, here, patch, post, put, readJson } from './api.js';
import { automationHead, crumb, showWebhook } from './automation.js';
import { conditionBuilder } from './condition_builder.js';
import { choice, field, showFaults, textInput } from './controls.js';
import { h, replace } from './dom.js';
import { formsOfSchemas } from './form_fields.js';
import { ask, doing, say, showError } from './notice.js';
import { go, guardWith, link } from './router.js';
import { session } from './session.js';
import { actionForms, triggerForms } from './step_forms.js';

const EMPTY = { name: '', description: null, databaseId: null, triggers: [], condition: null, actions: [] };
// What each route writes, in the order of asking.
const PARTS = {
	'': ({ name, description, databaseId }) => ({ name, description, databaseId }),
	'/triggers': ({ triggers }) => ({ triggers }),
	'/conditions': ({ condition }) => ({ condition }),
	'/actions': ({ actions }) => ({ actions }),
};
const NAMES = { '': 'name and database', '/triggers': 'triggers', '/conditions': 'condition',
	'/actions': 'actions' };
const texts = (draft) => Object.fromEntries(Object.entries(PARTS)
	.map(([part, of]) => [part, JSON.stringify(of(draft))]));

export async function view({ params: { id }, signal }) {
	const of = (path) => all(here(path), null, signal);
	const [stored, forms, databases, members, secrets] = await Promise.all([
		id ? get(`/automations/${id}`, null, signal) : EMPTY,
		formsOfSchemas(), of('/databases'), of('/members'), session.can('ADMIN') ? of('/secrets') : []]);
	return h('div',
		id ? automationHead(stored, '/edit') : h('div.head', h('div', crumb(), h('h1', 'New automation'))),
		editor(stored, forms, { databases, members, secrets }, signal));
}

function editor(stored, forms, lists, signal) {
	const draft = readJson(JSON.stringify(Object.assign({}, ...Object.values(PARTS).map((of) => of(stored)))));
	const home = stored.id ? `/automations/${stored.id}` : '/automations';
	let { version } = stored;
	let done = [];
	let saved = {};
	const unsaved = () => Object.keys(PARTS).filter((part) => texts(draft)[part] !== saved[part]);
	const said = h('p.muted.small', { role: 'status' });
	const changed = () => { said.textContent = unsaved().length ? 'Not saved yet.' : ''; };
	// Events are about the automation's own database, else that of a trigger.
	const scene = { ...lists, database: () => lists.databases.find(({ id }) => id === (draft.databaseId
		?? draft.triggers.map(({ config }) => config.databaseId).find(Boolean))) };
	const [triggers, condition, actions] = ['When', 'If', 'Then'].map((title) => h('section.card.step',
		{ label: title }));
	// Another database has other properties to choose from.
	function drawBelow() {
		replace(condition, title('If', 'Only when this holds.'), conditionBuilder(draft.condition, (now) => {
			draft.condition = now;
			changed();
		}, scene));
		replace(actions, title('Then', 'One after the other.'), actionForms(draft, forms.Action, scene, changed));
	}
	function draw() {
		replace(triggers, title('When', 'Any of these starts a run.'),
			triggerForms(draft, forms.Trigger, scene, changed, drawBelow));
		drawBelow();
	}
	draw();
	saved = texts(draft);
	changed();

	const save = doing(stored.id ? 'Save' : 'Create as draft', () => write().catch(refused),
		{ class: 'primary' });
	const form = h('div.stack.editor',
		general(draft, lists.databases, changed, draw), triggers, condition, actions,
		h('div.save-bar', said, stored.status === 'ACTIVE' && h('p.muted.small',
			'It is active: what is saved counts from the next event on. Runs at work keep their version.'),
		link(`#${home}`, 'Cancel', { class: 'button' }), save));

	guardWith(async () => !unsaved().length || ask({ title: 'Leave without saving?',
		body: 'What you have changed here will be lost.', confirm: 'Leave', cancel: 'Stay', danger: true }),
	signal);
	window.addEventListener('beforeunload', (event) => unsaved().length && event.preventDefault(), { signal });

	async function write() {
		showFaults(form, []);
		done = [];
		let answer = stored.id ? null : await post(here('/automations'), draft);
		if (answer?.webhook) await showWebhook(answer.webhook);
		for (const part of stored.id ? unsaved() : []) {
			const send = part ? put : patch;
			answer = await send(home + part, PARTS[part](draft), { version });
			({ version } = answer);
			done.push(NAMES[part]);
			// Saved steps keep their ids: runs at work know them by these.
			if (part === '/actions') answer.actions.forEach(({ id }, i) => { draft.actions[i].id = id; });
			saved[part] = texts(draft)[part];
			if (answer.webhook) await showWebhook(answer.webhook);
		}
		saved = texts(draft);
		if (answer) say(`Saved as version ${answer.version}`);
		go(`#/automations/${answer?.id ?? stored.id}`);
	}

	async function refused(error) {
		if (error.status === 422 && error.details) {
			return say([done.length ? `Saved: ${done.join(', ')}. The rest` : 'It', 'cannot be saved yet.',
				...showFaults(form, error.details)].join(' '), 'error');
		}
		if (error.status !== 412) return showError(error);
		const reload = await ask({ title: 'Somebody else has changed it',
			body: 'Another version has been saved since you began. Reload to see it; what you have not saved '
				+ 'will be lost.', confirm: 'Reload', cancel: 'Keep editing' });
		saved = reload ? texts(draft) : saved;
		return reload && go(`#${home}/edit`);
	}
	return form;
}

const title = (text, hint) => h('div.row', h('h2', text), h('p.muted.small', hint));

function general(draft, databases, changed, redraw) {
	const set = (key) => (value) => {
		draft[key] = value ?? (key === 'name' ? '' : null);
		changed();
		if (key === 'databaseId') redraw();
	};
	return h('section.card.grid', { label: 'General' },
		field({ path: 'name', label: 'Name', required: true },
			textInput(draft.name, set('name'), { autofocus: !draft.name })),
		field({ path: 'databaseId', label: 'Database', hint: 'What its events are about.' },
			choice(draft.databaseId, set('databaseId'), databases.map(({ id, name }) => [id, name]),
				{ empty: 'None' })),
		field({ path: 'description', label: 'Description' }, textInput(draft.description, set('description'))));
}
