import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** These wait for leases to run out, or start processes: begun first, the short ones run beside them. */
const LONG =
  /test\/(contract\/azure|facts|chaos|docs\/examples|e2e|hostile|simulation\/watchdog|store\/(azure-change|sqlite-(kills|io|power)))/

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

/** Pure, or with stores of their own: their files share what they import, which is half of their time. */
const SHARING = [
  ...['commands', 'formats', 'lab', 'library', 'ops', 'store', 'tui', 'watchdog', 'worker'].map(
    folder => `test/${folder}/**/*.test.ts`,
  ),
  'test/stream/*.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'sharing', include: SHARING, isolate: false } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: SHARING } },
    ],
    globalSetup: ['test/support/vitest-azurite-setup.ts', 'test/support/vitest-program-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongFirst },
    // Several files wait more than they work: more of them than cores can run at a time.
    maxWorkers: 3,
    coverage: { include: ['src/stream/**'], reporter: ['text'] },
  },
})
