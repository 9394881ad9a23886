type SqliteModule = typeof import('node:sqlite')

let loaded: SqliteModule | undefined

/**
 * `node:sqlite`, loaded at the first use. Node 22 prints an ExperimentalWarning for it while it loads: that one warning
 * is dropped, every other one passes.
 */
export function loadSqlite(): SqliteModule {
  loaded ??= withoutSqliteWarning(() => process.getBuiltinModule('node:sqlite'))
  return loaded
}

/** Loading is synchronous, so nothing else runs while the function stands in for Node's. */
function withoutSqliteWarning<T>(load: () => T): T {
  const { emitWarning } = process
  const filtered = (...args: unknown[]): void => {
    if (!isSqliteWarning(args)) Reflect.apply(emitWarning, process, args)
  }
  process.emitWarning = filtered
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

function isSqliteWarning([message, type]: unknown[]): boolean {
  return type === 'ExperimentalWarning' && /sqlite/i.test(String(message))
}
