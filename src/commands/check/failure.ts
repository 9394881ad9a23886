import type { FailureFormat } from '../../cli/command.ts'

/**
 * Monitoring reads the exit code: 1 is a warning, 2 is critical. A failure of `check` itself, bad usage included, must
 * not exit with either; 3 means unknown.
 */
export const CHECK_FAILURE: FailureFormat = {
  exit: 3,
  async print(what, runtime) {
    const { printUnknown } = await import('./unknown.ts')
    await printUnknown(what, runtime)
  },
}
