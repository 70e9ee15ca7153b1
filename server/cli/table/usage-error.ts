/** What was typed or given on stdin is invalid; nothing was changed. The exit code is 2. */
export class UsageError extends Error {}
