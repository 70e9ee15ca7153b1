import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

// Every gateway that a test starts hashes the admin's password, and many tests log in: 22 ms of CPU time each. For passwords
// that end with "of a test" argon2 takes the least memory and time that it allows. All others, and those in processes that a test
// starts, are hashed as in production, for example those of the tests of logins.

const { argon2 } = crypto;

crypto.argon2 = (algorithm, parameters, callback) => {
  const isOfTest = typeof parameters.message === "string" && parameters.message.endsWith("of a test");
  argon2(algorithm, isOfTest ? { ...parameters, memory: 8, passes: 1 } : parameters, callback);
};
syncBuiltinESMExports();
