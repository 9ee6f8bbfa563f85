/**
 * For every Node that runs the sources of the host. After 1,000 calls from WebAssembly to JavaScript, V8 13.6 compiles a wrapper that
 * all threads share, and may free it while another thread takes it: the process ends with `Check failed: jit_page.has_value()`
 * or a segmentation fault. The stripping of types is such WebAssembly and is repeated in every thread that a test starts, so
 * wrappers come and go often there. With a budget that is never used up there are none.
 */
export const nodeOptions = ['--wasm-wrapper-tiering-budget=1000000000'];
