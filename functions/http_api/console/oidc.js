// Sign-in at the identity provider: authorization code with PKCE.
// Source: OpenID Connect Core 1.0, section 3.1; RFC 7636; RFC 9207.

const KEY = 'whenthen.oidc';
const EARLY_MS = 60_000;
const DAY_MS = 86_400_000;

// `{issuer, clientId, audience}`, or null where no provider is configured.
export const provider = JSON.parse(document.querySelector('meta[name=oidc]').content || 'null');

// The provider's audience is the console itself: then the ID token says who it is.
const usesIdToken = () => provider.audience === provider.clientId;
const redirectUri = () => `${location.origin}/`;
const base64url = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
	.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

// Leaves for the provider; whoever comes back from there sees `from`, a hash.
export async function toProvider(from) {
	const { authorization_endpoint: where } = await discovered();
	const [state, nonce, verifier] = [random(), random(), random()];
	sessionStorage.setItem(KEY, JSON.stringify({ state, nonce, verifier, from }));
	const url = new URL(where);
	for (const [name, value] of Object.entries({
		response_type: 'code',
		client_id: provider.clientId,
		redirect_uri: redirectUri(),
		scope: 'openid profile email',
		state,
		nonce,
		code_challenge: base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))),
		code_challenge_method: 'S256',
		...!usesIdToken() && { audience: provider.audience },
	})) url.searchParams.set(name, value);
	location.assign(url);
}

// What the provider sent along with this page: `{token, expiresAt, refreshToken?, subject, from}`.
export async function fromProvider() {
	const answer = Object.fromEntries(new URLSearchParams(location.search));
	history.replaceState(null, '', '/'); // a code works once and has no place in an address bar
	const asked = JSON.parse(sessionStorage.getItem(KEY));
	sessionStorage.removeItem(KEY);
	if (answer.state !== asked?.state) {
		throw new Error('This sign-in was not begun in this tab. Please sign in again.');
	}
	const { iss = provider.issuer } = answer;
	if (iss !== provider.issuer) throw new Error('This answer is another provider’s.');
	if (!answer.code) throw new Error(refusal(answer));
	const tokens = await askForTokens({
		grant_type: 'authorization_code',
		code: answer.code,
		redirect_uri: redirectUri(),
		code_verifier: asked.verifier,
	});
	const claims = checked(tokens.id_token);
	if (claims.nonce !== asked.nonce) throw new Error('The identity provider answered somebody else.');
	return { ...credential(tokens, claims), from: asked.from };
}

// The same anew, for the same person.
export async function renewed({ refreshToken, subject }) {
	const tokens = await askForTokens({ grant_type: 'refresh_token', refresh_token: refreshToken });
	const claims = tokens.id_token ? checked(tokens.id_token) : { sub: subject };
	if (claims.sub !== subject) throw new Error('The identity provider answered for somebody else.');
	return credential({ refresh_token: refreshToken, ...tokens }, claims);
}

export function msToRenewal({ expiresAt }) {
	const left = expiresAt - Date.now();
	return Math.max(1000, Math.min(left - Math.min(EARLY_MS, left / 2), DAY_MS));
}

function credential(tokens, claims) {
	const { id_token: id, access_token: access, refresh_token: refreshToken, expires_in: lasts } = tokens;
	const token = usesIdToken() ? id : access;
	if (!token) throw new Error('The identity provider sent no token.');
	const expiresAt = usesIdToken() ? claims.exp * 1000 : Date.now() + (Number(lasts) || 300) * 1000;
	return { token, expiresAt, refreshToken, subject: claims.sub };
}

async function discovered() {
	const found = await ask(`${provider.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
	if (found.issuer !== provider.issuer) {
		throw new Error('The discovery document is of another identity provider.');
	}
	return found;
}

async function askForTokens(form) {
	const { token_endpoint: where } = await discovered();
	return ask(where, { method: 'POST', body: new URLSearchParams({ client_id: provider.clientId, ...form }) });
}

async function ask(where, options) {
	const response = await fetch(where, { ...options, credentials: 'omit', redirect: 'error' })
		.catch(() => { throw new Error('The identity provider cannot be reached.'); });
	const answer = await response.json().catch(() => ({}));
	if (!response.ok) throw new Error(refusal({ error: `status ${response.status}`, ...answer }));
	return answer;
}

const refusal = ({ error, error_description: told = error }) => `The identity provider refused: ${told}`;

// The claims of an ID token for us. It came from the issuer itself, over TLS; the API checks its
// signature at each request.
function checked(idToken) {
	const claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(
		atob(idToken.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')),
		(character) => character.charCodeAt(0),
	)));
	const isOurs = claims.iss === provider.issuer && [claims.aud].flat().includes(provider.clientId);
	if (!isOurs || !(claims.exp * 1000 > Date.now() - EARLY_MS)) {
		throw new Error('The identity provider sent a token that is not for this console.');
	}
	return claims;
}
