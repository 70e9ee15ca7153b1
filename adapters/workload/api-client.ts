import { InfraError } from "../host/infra-error.ts";
import type { WorkloadAccess } from "./adapter.ts";
import { errorFromRefusal, notUnderstood, type Refusal } from "./errors.ts";
import { urlHostOf } from "./names.ts";
import { parseRefusal } from "./parse-reply.ts";
import { workloadReasons } from "./reasons.ts";
import { createTlsClient, type Dial, type TlsRequest } from "./tls-client.ts";

export interface ApiRequest extends TlsRequest {
  /** Replies are not quoted in errors, since they may contain what was sent. */
  readonly isSecret?: boolean;
}

/** A JSON value, or a refusal by the API server. */
export type ApiReply = { readonly value: unknown } | { readonly refusal: Refusal };

export interface ApiClient {
  /** Runs work with a timeout and a signal. @throws what the work throws, and the signal's reason */
  within<T>(ms: number, signal: AbortSignal | undefined, work: (end: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * @throws InfraError WORKLOAD_UNAVAILABLE, WORKLOAD_DENIED, WORKLOAD_FAILED; refusals with a status in `bears` are
   * returned
   */
  send(request: ApiRequest, end: AbortSignal, bears?: readonly number[]): Promise<ApiReply>;
  close(): Promise<void>;
}

/** Creates a client of a cluster's API servers. It connects at the first call. */
export function createApiClient(access: WorkloadAccess, dial: Dial | undefined): ApiClient {
  const who = `Kubernetes at ${urlHostOf(access.host)}:${access.port}`;
  const client = createTlsClient({ ...access, dial, who });
  const closing = new AbortController();

  return {
    async within(ms, signal, work) {
      const ends = [AbortSignal.timeout(ms), closing.signal];
      signal?.throwIfAborted();
      try {
        return await work(AbortSignal.any(signal === undefined ? ends : [...ends, signal]));
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      }
    },
    async send(request, end, bears = []) {
      const { what, isSecret = false } = request;
      const description = { what, who, isSecret };
      const { status, text } = await client.send(request, end);
      if (status >= 200 && status < 300) {
        try {
          return { value: JSON.parse(text) };
        } catch {
          throw notUnderstood(description, "it is not JSON");
        }
      }
      const refusal = parseRefusal(status, text);
      if (!bears.includes(status)) {
        throw errorFromRefusal(refusal, description);
      }
      return { refusal };
    },
    async close() {
      closing.abort(new InfraError(workloadReasons.WORKLOAD_UNAVAILABLE, `The client of ${who} is closed`));
      await client.close();
    },
  };
}
