import { MAX_CONFIG_BYTES, readWatchdogConfig, type WatchdogConfig } from './config.ts'
import { readSmallFile } from './small-file.ts'

/** What was read, and what is not as it should be. */
export interface ReadConfig {
  readonly config: WatchdogConfig
  readonly warnings: readonly string[]
}

/** Reads the file of `--config`. @throws UsageError that says what is wrong with the file, or where in it */
export async function readConfigFile(path: string): Promise<ReadConfig> {
  const { text, mode } = await readSmallFile(path, `--config ${path}`, MAX_CONFIG_BYTES)
  const isOpen = (mode & 0o002) !== 0
  return {
    config: readWatchdogConfig(text, path),
    warnings: isOpen ? [`${path} may be written by everyone: whoever does has programs started (chmod o-w)`] : [],
  }
}
