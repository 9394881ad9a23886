import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** These wait for leases to run out, or start processes: begun first, the short ones run beside them. */
const LONG = /test\/(contract\/azure|facts|chaos|docs\/examples|e2e|simulation\/watchdog|store\/azure-change)/

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/vitest-azurite-setup.ts', 'test/support/vitest-program-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongFirst },
    // Several files wait more than they work: more of them than cores can run at a time.
    maxWorkers: 3,
    coverage: { include: ['src/stream/**'], reporter: ['text'] },
  },
})
