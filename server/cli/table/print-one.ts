import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { jsonOfMessage } from "./message-json.ts";
import { printableLine } from "./printable-line.ts";
import type { Printer } from "./printer.ts";
import type { View } from "./view.ts";

/** Prints a message in the printer's format: as a view, as a document, or as its name. */
export function printOne<Schema extends DescMessage>(
  printer: Printer,
  schema: Schema,
  message: MessageShape<Schema>,
  id: string,
  view: () => View,
  adjust: (json: unknown) => unknown = (json) => json,
): void {
  switch (printer.format) {
    case "name":
      printer.out(printableLine(id));
      break;
    case "table":
      printer.view(view());
      break;
    default:
      printer.document(adjust(jsonOfMessage(schema, message)));
  }
}
