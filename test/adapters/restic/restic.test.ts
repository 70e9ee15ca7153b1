import { testResticContract } from "./contract.ts";
import { makeLocalSubject, reasonToSkip } from "./local-repository.ts";

const skip = await reasonToSkip();

testResticContract("restic", makeLocalSubject, skip);
