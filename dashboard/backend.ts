import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { signal } from "@preact/signals";

/** Whether the gateway is a sandbox. Every answer says so, also those to somebody who is not logged in. */
export const isSandbox = signal(false);

/** Takes from each answer what the gateway is. */
export const noticeBackend: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    isSandbox.value = saysSandbox(response.header);
    return response;
  } catch (error) {
    // Where none is said, it may be that nobody has answered.
    isSandbox.value ||= saysSandbox(ConnectError.from(error).metadata);
    throw error;
  }
};

function saysSandbox(headers: Headers): boolean {
  return headers.get("hostplane-backend") === "sandbox";
}
