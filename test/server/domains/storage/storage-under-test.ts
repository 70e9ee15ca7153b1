import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import type { CephAdapter } from "../../../../adapters/ceph/adapter.ts";
import type { KubernetesAdapter } from "../../../../adapters/kubernetes/adapter.ts";
import { serveStorage } from "../../../../server/domains/storage/serve.ts";
import type { AnyHandler } from "../../../../server/rpc/call/service-handlers.ts";
import { contextUnderTest } from "../../domain/context-under-test.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";

export interface Answer<Message> {
  readonly message: Message;
  readonly headers: Headers;
  /** Resource of the call, as it would be logged. */
  readonly resource: string | undefined;
}

/** Creates the services of the domain for these systems, called without a network. */
export function createStorageUnderTest(
  t: Test,
  systems: { readonly ceph?: CephAdapter; readonly kubernetes?: KubernetesAdapter },
) {
  const { ceph, kubernetes } = systems;
  const close = async () => void (await Promise.all([ceph?.close(), kubernetes?.close()]));
  t.teardown(close);
  const { registrations, planners, backends } = serveStorage({ ceph, kubernetes, close }, contextUnderTest());

  function handlerOf(method: Parameters<(typeof registrations)[number]["handlerOf"]>[0]): AnyHandler {
    const registration = registrations.find(({ service }) => service.typeName === method.parent.typeName);
    if (registration === undefined) {
      throw new TypeError(`no service ${method.parent.typeName}`);
    }
    return registration.handlerOf(method);
  }

  return {
    planners,
    backends,
    handlerOf,
    async call<M extends DescMethodUnary>(
      method: M,
      request: MessageInitShape<M["input"]> = {} as MessageInitShape<M["input"]>,
    ): Promise<Answer<MessageShape<M["output"]>>> {
      const answered = new Headers();
      const call = createCall({ method, answered });
      const output = await handlerOf(method)(create(method.input, request), call);
      const message = create(method.output, output as MessageInitShape<M["output"]>);
      return { message: message as MessageShape<M["output"]>, headers: answered, resource: call.resource() };
    },
  };
}
