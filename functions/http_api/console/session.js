// Who uses this tab: a token, whom it stands for, and the workspace that is looked at.

import { get } from './api.js';
import { say } from './notice.js';
import { go, isGuarded, mayLeave } from './router.js';

// In sessionStorage: the token goes with the tab.
const KEY = 'whenthen.session';
const RANKS = ['VIEWER', 'EDITOR', 'ADMIN', 'OWNER'];
const ENDED = 'Your session has ended. Sign in again.';

let kept = {};
let me = null;

export const session = {
	// Why one is not signed in; else ''.
	problem: '',
	// What one wanted to see before; else ''.
	wanted: '',
	get token() { return kept.token; },
	get me() { return me; },
	// `{id, name, role}`; undefined for members of none.
	get workspace() {
		const all = me?.workspaces ?? [];
		return all.find(({ id }) => id === kept.workspaceId) ?? all[0];
	},
	get workspaceId() { return this.workspace?.id; },
	can(role) { return RANKS.indexOf(this.workspace?.role) >= RANKS.indexOf(role); },
};

// Takes up this tab's token, or what the provider has sent.
export async function resume() {
	const before = JSON.parse(sessionStorage.getItem(KEY)) ?? {};
	try {
		if (!before.token && new URLSearchParams(location.search).has('state')) {
			const { fromProvider } = await import('./oidc.js');
			const { from, ...tokens } = await fromProvider();
			await signIn(tokens.token, tokens);
			history.replaceState(null, '', from || '#/');
		} else if (before.token) await signIn(before.token, before);
	} catch (error) {
		session.problem = error.status === 401 ? ENDED : error.message;
		if (error.status === 401) keep({});
	}
}

// `more`: with what oidc.js renews it.
export async function signIn(token, more = {}) {
	me = await get('/me', null, null, { token });
	session.problem = '';
	keep({ ...more, token });
	if (kept.refreshToken) renewInTime();
}

// `ended`: not because one wanted to go.
export async function signOut({ ended = false } = {}) {
	if (ended && isGuarded()) {
		return say(`${ENDED} Keep a copy of what is not saved, then sign out.`, 'error');
	}
	if (!(await mayLeave())) return undefined;
	session.problem = ended ? ENDED : '';
	session.wanted = ended ? location.hash : '';
	me = null;
	keep({});
	return go('#/sign-in');
}

export async function switchWorkspace(id) {
	if (!(await mayLeave())) return;
	keep({ ...kept, workspaceId: id });
	go('#/automations');
}

async function renewInTime() {
	const { renewed, msToRenewal } = await import('./oidc.js');
	setTimeout(async () => {
		const before = kept;
		if (!before.refreshToken) return;
		try {
			const tokens = await renewed(before);
			if (kept.token === before.token) await signIn(tokens.token, { ...kept, ...tokens });
		} catch {
			// the token goes on until it expires; the API says so then
		}
	}, msToRenewal(kept));
}

function keep(values) {
	kept = values;
	if (kept.token) sessionStorage.setItem(KEY, JSON.stringify(kept));
	else sessionStorage.removeItem(KEY);
}

