// The frame around the views, who is let into them, and which module shows which address.

import { button, h, replace } from './dom.js';
import { link, start } from './router.js';
import { resume, session, signOut, switchWorkspace } from './session.js';

const PLACES = [['/automations', 'Automations', 'VIEWER'], ['/runs', 'Runs', 'VIEWER'],
	['/dead-letters', 'Dead letters', 'VIEWER'], ['/stats', 'Stats', 'VIEWER'],
	['/secrets', 'Secrets', 'ADMIN'], ['/activity', 'Activity', 'ADMIN']];
// Address → the module that exports its `view`.
const VIEWS = {
	'/automations': 'automation_list',
	'/automations/new': 'automation_edit',
	'/automations/:id': 'automation_overview',
	'/automations/:id/edit': 'automation_edit',
	'/automations/:id/versions': 'automation_versions',
	'/automations/:id/dry-run': 'dry_run',
	'/secrets': 'secrets',
	'/runs': 'runs',
	'/runs/:id': 'run',
	'/dead-letters': 'dead_letters',
	'/activity': 'activity',
	'/stats': 'stats',
	'/sign-in': 'sign_in',
};
const ROLES = { '/secrets': 'ADMIN', '/activity': 'ADMIN', '/automations/new': 'EDITOR',
	'/automations/:id/edit': 'EDITOR', '/automations/:id/dry-run': 'EDITOR' };

const frame = document.querySelector('#frame');
const main = document.querySelector('#view');
const pathOf = (hash) => hash.slice(1).split('?')[0];

// Draws the frame for `hash`, and answers what to show instead of it.
function around(hash) {
	const wanted = admitted(hash);
	const path = pathOf(wanted);
	frame.hidden = path === '/sign-in';
	document.body.classList.toggle('framed', !frame.hidden);
	if (!frame.hidden) replace(frame, skip(), brand(), places(path), account());
	return wanted;
}

function admitted(hash) {
	const path = pathOf(hash);
	if (path === '/sign-in') return hash;
	if (!session.token) {
		session.wanted = hash;
		return '#/sign-in';
	}
	return path === '/' ? '#/automations' : hash;
}

async function load(pattern) {
	if (!session.workspaceId && pattern !== '/sign-in') return welcome;
	if (ROLES[pattern] && !session.can(ROLES[pattern])) throw Object.assign(new Error(), { status: 404 });
	return (await import(`./${VIEWS[pattern]}.js`)).view;
}

const welcome = () => h('section.empty',
	h('h1', 'No workspace yet'),
	h('p', 'This account belongs to no workspace. Ask an admin to add its e-mail address to one, then '
		+ 'sign in again.'));

const skip = () => button('Skip to the content', () => main.querySelector('h1').focus(), { class: 'skip' });

const brand = () => h('a.brand', { href: '#/automations', label: 'whenthen' },
	h('img', { src: new URL('./icon.svg', import.meta.url), alt: '', width: 24, height: 24 }), 'whenthen');

const places = (path) => h('nav', { label: 'Main' }, h('ul', PLACES
	.filter(([, , role]) => session.can(role))
	.map(([place, title]) => h('li', link(`#${place}`, title,
		{ 'aria-current': `${path}/`.startsWith(`${place}/`) && 'page' })))));

function account() {
	const { me, workspaceId } = session;
	const all = me?.workspaces ?? [];
	return h('div.account',
		all.length < 2 ? h('span.workspace', all[0]?.name)
			: h('select', { label: 'Workspace', value: workspaceId,
				async onchange({ target }) {
					await switchWorkspace(target.value);
					target.value = session.workspaceId;
				} },
			all.map(({ id, name }) => h('option', { value: id }, name))),
		h('span.who.muted', me?.email ?? me?.name),
		button('Sign out', () => signOut(), { class: 'quiet' }));
}

await resume();
await start(main, around, Object.keys(VIEWS), load);
