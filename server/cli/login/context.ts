import { createPrinter } from "../create-printer.ts";
import type { ExitCode, Output } from "../table/output.ts";
import type { Format } from "../table/printer.ts";
import {
  type Contexts,
  contextNamed,
  contextsFile,
  readContexts,
  writeContexts,
} from "../target/contexts.ts";
import { explainFailure, localContext } from "../target/with-session.ts";

/** Prints the contexts without their tokens. */
export async function listContexts(
  { output: format = "table" }: { readonly output?: Format },
  output: Output,
): Promise<ExitCode> {
  const printer = createPrinter(output, format);
  return reporting(output, async () => {
    const { current, contexts } = await readContexts(contextsFile());
    const all = [
      { name: localContext, url: "", actor: "", pin: "" },
      ...Object.entries(contexts).map(([name, { url, actor, pin = "" }]) => ({ name, url, actor, pin })),
    ].map((context) => ({ ...context, current: context.name === (current ?? localContext) }));
    if (format === "name") {
      for (const { name } of all) {
        output.out(name);
      }
    } else if (format === "table") {
      const rows = all.map(({ name, url, actor, pin, current: isCurrent }) => [
        isCurrent ? "*" : "",
        name,
        url || "the gateway of this host",
        actor,
        pin === "" ? "" : `${pin.slice(0, 23)}...`,
      ]);
      printer.table({ head: ["", "NAME", "GATEWAY", "USER", "PINNED CERTIFICATE"], rows });
    } else {
      printer.document(all);
    }
  });
}

/** Makes a context the one of commands that name none. */
export function useContext(name: string, output: Output): Promise<ExitCode> {
  return changing(output, (known) => {
    if (name === localContext) {
      output.out("commands now use the gateway of this host");
      return { contexts: known.contexts };
    }
    const { url } = contextNamed(known, name);
    output.out(`commands now use ${url}`);
    return { ...known, current: name };
  });
}

/** Removes a context. Its token stays valid. */
export function removeContext(name: string, output: Output): Promise<ExitCode> {
  return changing(output, ({ current, contexts }) => {
    contextNamed({ contexts }, name);
    const { [name]: _removed, ...rest } = contexts;
    output.out(`removed the context ${name}`);
    return current === undefined || current === name ? { contexts: rest } : { current, contexts: rest };
  });
}

function changing(output: Output, change: (known: Contexts) => Contexts): Promise<ExitCode> {
  return reporting(output, async () => {
    const file = contextsFile();
    await writeContexts(file, change(await readContexts(file)));
  });
}

async function reporting(output: Output, work: () => Promise<void>): Promise<ExitCode> {
  try {
    await work();
    return 0;
  } catch (error) {
    return explainFailure(error, undefined, output);
  }
}
