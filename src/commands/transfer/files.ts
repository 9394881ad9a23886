import { type Problem, problem } from '../../cli/problem.ts'

/** What is wrong with a file or folder that was named, or with one below it. */
export function fileProblem(error: unknown, path: string): Problem {
  const code = errorCode(error)
  switch (code) {
    case undefined:
      throw error
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return problem('store-full', `no room left for ${path} (${code})`, {
        cause: error,
        hint: 'Make room and repeat the command: what is there already is recognised.',
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return problem('not-permitted', `${path} may not be ${code === 'EROFS' ? 'written' : 'opened'} (${code})`, {
        cause: error,
      })
    case 'ENAMETOOLONG':
      return problem('file-failed', `${path.slice(0, 100)}…: too long for this file system (${code})`, { cause: error })
    default:
      return problem('file-failed', `${path}: ${TEXTS[code] ?? 'it cannot be read or written'} (${code})`, {
        cause: error,
      })
  }
}

const TEXTS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'it is a folder',
  EIO: 'the disk failed',
}

/** The code of an error of Node's file system functions. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Codes after which no other file can be written either. */
export function isDiskFull({ code }: Problem): boolean {
  return code === 'store-full'
}
