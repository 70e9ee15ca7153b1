import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { signal } from "@preact/signals";

/** Whether the gateway is a sandbox. Every response says so, including those to users who are not logged in. */
export const isSandbox = signal(false);

/** Reads from each response whether the gateway is a sandbox. */
export const noticeBackend: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    // A stream that shares the connection of other windows has no such header.
    isSandbox.value = saysSandbox(response.header) || (response.stream && isSandbox.value);
    return response;
  } catch (error) {
    // An error without the header may not come from the gateway, so it never resets the flag.
    isSandbox.value ||= saysSandbox(ConnectError.from(error).metadata);
    throw error;
  }
};

function saysSandbox(headers: Headers): boolean {
  return headers.get("hostplane-backend") === "sandbox";
}
