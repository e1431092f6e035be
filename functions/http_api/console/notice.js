// Questions that must be answered first, and what has just happened.

import { button, freshId, h, iconButton } from './dom.js';

const STAY_MS = 6000;

// True for `confirm`. `body`: text or node; `cancel: null`: nothing to decide.
export function ask({ title, body, confirm, cancel = 'Cancel', danger }) {
	const id = freshId('dialog');
	const dialog = h('dialog', { 'aria-labelledby': id, oncancel: (event) => cancel || event.preventDefault() },
		h('form', { method: 'dialog' },
			h('h2', { id }, title),
			h('div.dialog-body', body instanceof Node ? body : h('p', body)),
			h('div.dialog-foot', cancel && h('button.button', { value: 'no' }, cancel),
				h('button.button', { class: danger ? 'danger' : 'primary', value: 'yes' }, confirm))));
	document.body.append(dialog);
	dialog.showModal();
	return new Promise((resolve) => {
		dialog.addEventListener('close', () => {
			dialog.remove();
			resolve(dialog.returnValue === 'yes');
		});
	});
}

// `kind`: ok, info, error (stays until closed) or quiet (only heard).
export function say(text, kind = 'ok') {
	const alerts = document.querySelector('#alerts');
	const region = kind === 'error' ? alerts : document.querySelector('#notices');
	const notice = h('div.notice', { class: kind }, h('p', text),
		iconButton('×', 'Close this message', () => notice.remove()));
	// What went well, or wrong once more, outdates what went wrong before.
	if (kind === 'ok' || kind === 'error') alerts.replaceChildren();
	region.append(notice);
	if (region.children.length > 3) region.firstElementChild.remove();
	if (kind !== 'error') setTimeout(() => notice.remove(), STAY_MS);
}

export const inWords = ({ message, requestId }) => message + (requestId ? ` (request ${requestId})` : '');

// Says an error that belongs to no field; having left the view is none.
export function showError(error) {
	if (error.name !== 'AbortError' && error.status !== 401) say(inWords(error), 'error');
}

export async function busy(node, work) {
	node.disabled = true;
	try {
		return await work();
	} catch (error) {
		return showError(error);
	} finally {
		node.disabled = false;
	}
}

// A button that does `work`, after a `question` for `ask` if there is one.
export function doing(label, work, { question, ...props } = {}) {
	const node = button(label, async () => (!question || await ask(question)) && busy(node, work), props);
	return node;
}
