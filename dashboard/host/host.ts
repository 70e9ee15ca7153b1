/**
 * The host of the fleet that this page shows, from its address: `?host=node-1#/volumes`. Undefined for the gateway itself. It stays
 * the same for as long as the page is open: choosing another host loads the page again, so that nothing of the first one, such as a
 * change that waits to be repeated, can reach the second.
 */
export const host = new URLSearchParams(location.search).get("host") || undefined;
