import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Tests that wait for leases to expire or start processes: started first, so that short ones run beside them. */
const LONG =
  /test\/(contract\/azure|service-facts|faults|docs\/(examples|drone)|e2e|security\/hostile|simulation\/watchdog|unit\/store\/azure\/(answers|change\/leased)|unit\/stream\/limits)/

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

/**
 * Tests that mock modules, measure process time, or take each timer for one of their own. All others share their
 * imports, which halves their time.
 */
const ALONE = [
  'test/faults/outage/outage.test.ts',
  'test/security/hostile/{graphs,names,xml-pace}.test.ts',
  'test/simulation/system/negative-controls.test.ts',
  'test/unit/commands/batch/rate.test.ts',
  'test/unit/formats/terminal/glyphs.test.ts',
  'test/unit/store/azure/circuit-breaker.test.ts',
  'test/unit/stream/properties/{model,session}.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'sharing', include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
    globalSetup: ['test/support/vitest-azurite-setup.ts', 'test/support/vitest-program-setup.ts'],
    // Generous, for a busy machine: only a test that hangs costs this time.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    sequence: { sequencer: LongFirst },
    // Several files mostly wait, so more of them than cores can run at a time.
    maxWorkers: 6,
    coverage: { include: ['src/stream/**'], reporter: ['text'] },
  },
})
