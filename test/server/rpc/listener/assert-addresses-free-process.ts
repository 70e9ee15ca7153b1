import { assertAddressesFree } from "../../../../server/rpc/listener/assert-addresses-free.ts";

/** Prints the error of a listen address for a user who is not root; nothing if it is free. Argument: the address. */
const address = process.argv[2] ?? "";
const unprivilegedId = 65_534;
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(unprivilegedId);
  process.setuid?.(unprivilegedId);
}
await assertAddressesFree({ listen: [{ address }], data: "/nowhere" }).catch((error: Error) => {
  process.stdout.write(error.message);
});
