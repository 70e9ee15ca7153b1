/** Whether tests with a short and a long form run the long one: `npm run test:full`. */
export const isLongForm = process.env.LONG_FORM === "1";
