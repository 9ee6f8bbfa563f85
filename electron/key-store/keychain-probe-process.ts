import { probeKeychain } from './probe-keychain.ts';

// Its exit status is the answer: a keychain that hangs hangs this process, which can be ended, and not the host.
process.exitCode = probeKeychain() ? 0 : 1;
