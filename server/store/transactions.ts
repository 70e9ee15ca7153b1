import { instanceTransactions } from "./instances.ts";

/**
 * Every transaction of the store by its name, which is `concern.verb`. A concern is a file beside this one,
 * whose object is spread here.
 */
export const transactions = {
  ...instanceTransactions,
};
