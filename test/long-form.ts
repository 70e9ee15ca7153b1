/** Whether tests that have a short and a long form run their long one: `npm run test:full`. */
export const isLongForm = process.env.LONG_FORM === "1";
