import { testResticContract } from "../../adapters/restic/contract.ts";
import { makeLocalSubject, reasonToSkip } from "../../adapters/restic/local-repository.ts";

const skip = await reasonToSkip();

testResticContract("restic", makeLocalSubject, skip);
