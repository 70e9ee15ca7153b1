import { hypervisorResource } from "../../../adapters/libvirt/names.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { type AccessRegistration, registerAccess } from "../../rpc/access/method-access.ts";

const one = { touches: ({ id }: { readonly id: string }) => [hypervisorResource(id)] };
const several = {
  touches: ({ ids }: { readonly ids: readonly string[] }) =>
    // Without one, the request is refused for that.
    ids.length === 0 ? ["hypervisors"] : ids.map(hypervisorResource),
};
const pool = { touches: () => ["storagePool"] };

/** What the calls of the services for hypervisors concern. */
export const hypervisorAccess: readonly AccessRegistration[] = [
  registerAccess(OperationsService, {
    listHypervisors: {
      shows: ({ hypervisors = [] }, sees) => ({
        hypervisors: hypervisors.filter(({ id = "" }) => sees(hypervisorResource(id))),
      }),
    },
    createHypervisor: one,
    destroyHypervisor: one,
    createHypervisors: several,
    destroyHypervisors: several,
    expandStorage: pool,
    shrinkStorage: pool,
    createBackup: pool,
  }),
  registerAccess(StoragePoolService, {
    getStoragePool: pool,
    watchStoragePool: pool,
    expandStoragePool: pool,
    shrinkStoragePool: pool,
    backUpStoragePool: pool,
  }),
];
