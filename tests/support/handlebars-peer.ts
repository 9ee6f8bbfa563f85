import Handlebars from 'handlebars';

/**
 * Handlebars itself, with one fault mended: with `noEscape` it adds values that follow each other as numbers, `{{one}}{{one}}`
 * is 2.
 */
export function createHandlebars(): typeof Handlebars {
  type Compiler = new () => { appendToBuffer(source: unknown, ...rest: unknown[]): unknown };
  const peer = Handlebars.create() as typeof Handlebars & { JavaScriptCompiler: Compiler };
  peer.unregisterHelper('log');
  peer.logger.log = () => undefined;
  const Original = peer.JavaScriptCompiler;
  peer.JavaScriptCompiler = class extends Original {
    readonly compiler = peer.JavaScriptCompiler;
    override appendToBuffer(source: unknown, ...rest: unknown[]): unknown {
      return super.appendToBuffer(['("" + (', source, '))'], ...rest);
    }
  };
  return peer;
}
