// Requests to this deployment's own API.

import { session, signOut } from './session.js';

const DEADLINE_MS = 30_000;

// Each answers with JSON, or throws the API's error: `{status, code, message, details, requestId}`, status
// 0 for no answer at all. `version`: of what is changed; if there is a newer one, it is refused with 412.
export const get = (path, query, signal, options) => send('GET', path + search(query), undefined,
	{ signal, ...options });
export const put = (path, body, options) => send('PUT', path, body, options);
export const patch = (path, body, options) => send('PATCH', path, body, options);
export const del = (path, options) => send('DELETE', path, undefined, options);

// Done once however often it is sent; `key: false` if it changes nothing.
export const post = (path, body, { key = true, ...options } = {}) => send('POST', path, body,
	{ ...options, key: key && crypto.getRandomValues(new Uint8Array(16)).join('-') });

// The first items of a list: `most`, rounded up to whole pages.
export async function all(path, query, signal, most = Infinity) {
	const items = [];
	let cursor = null;
	do {
		const page = await get(path, { ...query, cursor, limit: 200 }, signal);
		items.push(...page.data);
		cursor = page.nextCursor;
	} while (cursor && items.length < most);
	return items;
}

// A path about this workspace.
export const here = (path) => `/workspaces/${session.workspaceId}${path}`;

// `?a=1&b=2` of what has a value.
export function search(query) {
	const pairs = Object.entries(query ?? {}).filter(([, value]) => (value ?? '') !== '');
	return pairs.length ? `?${new URLSearchParams(pairs)}` : '';
}

// Integers that no double can hold stay as they are written.
export const readJson = (text) => JSON.parse(text, (_, value, context) => (
	Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source)
		? JSON.rawJSON(context.source) : value));

const refusal = (status, inside) => Object.assign(new Error(inside.message), { status, ...inside });

async function send(method, path, body, { token = session.token, version, key, signal } = {}) {
	const deadline = AbortSignal.timeout(DEADLINE_MS);
	let response;
	let text;
	try {
		response = await fetch(`/api/v1${path}`, {
			method,
			headers: {
				...token && { authorization: `Bearer ${token}` },
				...body !== undefined && { 'content-type': 'application/json' },
				...version && { 'if-match': `${version}` },
				...key && { 'idempotency-key': key },
			},
			body: JSON.stringify(body),
			signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
			cache: 'no-store',
			credentials: 'omit',
		});
		text = await response.text();
	} catch (error) {
		if (signal?.aborted) throw error;
		throw refusal(0, { message: deadline.aborted ? 'The server did not answer in time.'
			: 'The server cannot be reached.' });
	}
	const { ok, status } = response;
	let answer = null;
	try {
		answer = text && readJson(text);
	} catch {
		// a proxy's page, not the API's answer
	}
	if (ok) return answer;
	if (status === 401 && token && token === session.token) signOut({ ended: true });
	throw refusal(status, answer?.error ?? { message: `The server answered with status ${status}.` });
}
