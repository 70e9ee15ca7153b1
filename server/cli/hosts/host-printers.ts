import type { Printer } from "../table/printer.ts";
import type { Table, View } from "../table/view.ts";

/** Prints what a command has found out on several hosts, with the names of the hosts. */
export interface HostPrinters {
  of(host: string): Printer;
  /** Prints what was collected: tables and documents of all hosts as one. */
  flush(): void;
}

/** What a host's command has printed, apart from tables and documents. */
type Printed =
  | { readonly line: string; readonly isView: false }
  | { readonly view: View; readonly isView: true };

interface Collected {
  readonly host: string;
  readonly printed: Printed[];
  readonly tables: { readonly table: Table; readonly below: readonly (readonly string[])[] }[];
  readonly documents: unknown[];
}

/** @param isLive whether lines are printed as they come, and not host by host at the end */
export function createHostPrinters(
  printer: Printer,
  hosts: readonly string[],
  isLive: boolean,
): HostPrinters {
  const all = new Map(
    hosts.map((host): [string, Collected] => [host, { host, printed: [], tables: [], documents: [] }]),
  );
  // `-o name` is for programs, which split words at spaces.
  const separator = printer.format === "name" ? " " : ": ";
  const lineOf = (host: string, line: string) => `${host}${separator}${line}`;

  function of(host: string): Printer {
    const collected = all.get(host);
    if (collected === undefined) {
      throw new TypeError(`no printer for ${host}`);
    }
    let last: string | undefined;
    const out = (line: string) => {
      if (isLive) {
        printer.out(lineOf(host, line));
      } else {
        collected.printed.push({ line, isView: false });
      }
    };
    return {
      ...printer,
      // Lines of several hosts alternate, so none replaces another.
      isTerminal: false,
      out,
      err: (line) => printer.err(`${host}: ${line}`),
      document: (json) => void collected.documents.push(json),
      documentInStream: (json) => printer.documentInStream(withHost(json, host)),
      table: (table, below = []) => void collected.tables.push({ table, below }),
      view: (view) => void collected.printed.push({ view, isView: true }),
      progress(line) {
        if (line !== last) {
          printer.out(lineOf(host, line));
          last = line;
        }
      },
    };
  }

  return {
    of,
    flush() {
      for (const { host, printed } of all.values()) {
        for (const each of printed) {
          if (each.isView) {
            printView(host, each.view, printer);
          } else {
            printer.out(lineOf(host, each.line));
          }
        }
      }
      for (const [table, below] of mergedTables([...all.values()])) {
        printer.table(table, below);
      }
      const documents = [...all.values()].flatMap((each) =>
        each.documents.flat().map((json) => withHost(json, each.host)),
      );
      if ([...all.values()].some((each) => each.documents.length > 0)) {
        printer.document(documents);
      }
    },
  };
}

/** A view of one line needs no heading. */
function printView(host: string, view: View, printer: Printer): void {
  const { facts = [], tables = [], lines = [] } = view;
  if (facts.length === 0 && tables.length === 0) {
    for (const line of lines) {
      printer.out(`${host}: ${line}`);
    }
    return;
  }
  printer.view({ ...view, facts: [["host", host], ...facts] });
  printer.out("");
}

/** Merges tables of the same columns, with the host as the first. */
function mergedTables(
  all: readonly Collected[],
): readonly (readonly [table: Table, below: readonly (readonly string[])[]])[] {
  const parts = all.flatMap(({ host, tables }) => tables.map((part) => ({ host, ...part })));
  const groups = Map.groupBy(parts, ({ table }) => table.head.join("\t"));
  return [...groups.values()].map((group) => {
    const [first] = group;
    const head = ["HOST", ...(first?.table.head ?? [])];
    const rows = group.flatMap(({ host, table }) => table.rows.map((row) => [host, ...row]));
    const below = group.flatMap(({ table, below }) => table.rows.map((_row, index) => below[index] ?? []));
    return [{ head, rows }, below];
  });
}

function withHost(json: unknown, host: string): unknown {
  return typeof json === "object" && json !== null && !Array.isArray(json)
    ? { ...json, fleetHost: host }
    : { fleetHost: host, value: json };
}
