import { createStoreInspector } from "../../../../server/cli/doctor/inspect-store.ts";

/** Prints doctor's findings about the store of a data directory as JSON, as a user other than root. Argument: the directory. */
const data = process.argv[2] ?? "";
const unprivilegedId = 65_534;
// All modules are loaded at this point, since this user may not read the sources.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(unprivilegedId);
  process.setuid?.(unprivilegedId);
}
const { findings } = await createStoreInspector({ data, store: "sqlite" }, undefined).inspect();
process.stdout.write(JSON.stringify(findings));
