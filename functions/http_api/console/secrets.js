// Names of the workspace's secrets, and new values for them.

import { del, here, put } from './api.js';
import { checked, field, showFaults, textInput } from './controls.js';
import { h } from './dom.js';
import { busy, doing, say } from './notice.js';
import { pagedTable } from './paged_table.js';
import { ago, empty, head } from './parts.js';

const pathOf = (name) => here(`/secrets/${encodeURIComponent(name)}`);

export async function view({ signal }) {
	const table = pagedTable({
		caption: 'Secrets',
		key: ({ name }) => name,
		columns: {
			Name: ({ name }) => h('code', name),
			Template: ({ name }) => h('code.muted', `{{secrets.${name}}}`),
			Changed: ({ updatedAt }) => ago(updatedAt),
			Actions: ({ name }) => doing('Delete', async () => {
				await del(pathOf(name));
				say(`${name} is deleted`);
				await table.reload();
			}, { class: 'quiet', label: `Delete ${name}`, question: { title: `Delete ${name}?`,
				confirm: 'Delete', danger: true,
				body: 'Webhooks that use it fail until there is one of this name again.' } }),
		},
		classes: { Actions: 'end' },
		path: here('/secrets'), signal,
		empty: empty('No secrets yet', 'Keep a key here, and write its template into the headers, the body or '
			+ 'the signing secret of a webhook. Nobody can read it again.'),
	});
	await table.ready;
	return h('div', head('Secrets'), h('div.split', table, form(table)));
}

function form(table) {
	const name = textInput('', () => {}, { placeholder: 'CRM_KEY' });
	const value = textInput('', () => {}, { type: 'password', autocomplete: 'new-password' });
	const save = h('button.button.primary', 'Save');
	const onsubmit = (event) => {
		event.preventDefault();
		showFaults(card, name.value ? [] : [{ path: 'name', message: 'is required' }]);
		return name.value && busy(save, () => checked(card, async () => {
			await put(pathOf(name.value), { value: value.value });
			say(`${name.value} is saved`);
			card.reset();
			await table.reload();
		}));
	};
	const card = h('form.card.stack', { novalidate: true, onsubmit }, h('h2', 'Add or replace'),
		field({ path: 'name', label: 'Name', hint: 'Capital letters, digits and _.' }, name),
		field({ path: 'value', label: 'Value', hint: '8 to 4,096 characters.' }, value),
		h('div', save));
	return card;
}
