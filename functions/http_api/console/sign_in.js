// How one comes in: by the identity provider, or by a token.

import { button, freshId, h, replace } from './dom.js';
import { go } from './router.js';
import { session, signIn } from './session.js';

export async function view() {
	const { provider, toProvider } = await import('./oidc.js');
	const id = freshId('token');
	const said = h('p.error', { id: `${id}-error`, role: 'alert' }, session.problem);
	const token = h('input', { id, type: 'password', autocomplete: 'off', spellcheck: 'false',
		required: true, autofocus: !provider, 'aria-describedby': `${id}-error` });
	const leave = button('Sign in with your organisation', () => attempt(leave,
		() => toProvider(session.wanted)), { class: 'primary', autofocus: true });
	const enter = h('button', { class: provider ? 'button' : 'button primary' }, 'Sign in');

	async function attempt(by, work) {
		by.disabled = true;
		replace(said);
		try {
			await work();
		} catch ({ status, message }) {
			replace(said, status === 401 ? 'This token is not valid, or no longer.' : message);
			by.disabled = false;
			(by === enter ? token : by).focus();
		}
	}

	const submit = (event) => {
		event.preventDefault();
		attempt(enter, async () => {
			await signIn(token.value.trim());
			go(session.wanted || '#/automations');
			session.wanted = '';
		});
	};
	return h('section.sign-in.stack',
		h('img', { src: new URL('./icon.svg', import.meta.url), alt: '', width: 40, height: 40 }),
		h('h1', 'Sign in to whenthen'),
		provider && [leave, h('p.muted.or', 'or with a token')],
		h('form.stack', { onsubmit: submit },
			h('div.field', h('label', { for: id }, 'API token'), token, said), enter),
		h('p.muted.small', 'A token begins with ', h('code', 'wt_'), '. ', h('code', 'whenthen dev'),
			' prints one, and ', h('code', 'whenthen tokens create'),
			' makes another. It is kept in this tab only.'));
}
