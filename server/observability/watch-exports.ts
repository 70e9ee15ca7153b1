import { ExportResultCode } from "@opentelemetry/core";
import type { SpanExporter } from "@opentelemetry/sdk-trace";

/** Wraps the exporter to report the first failed export of each run of failures. */
export function watchExports(
  exporter: SpanExporter,
  onFailed: (error: Error | undefined) => void,
): SpanExporter {
  let isFailing = false;
  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !isFailing) {
          onFailed(result.error);
        }
        isFailing = failed;
        onResult(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
