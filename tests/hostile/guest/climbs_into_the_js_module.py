# expect: exit 0|1
# expect: stdout never ESCAPED
def attempt(name, action):
    try:
        value = action()
        print("ESCAPED" if value else "nothing", name)
    except BaseException as error:
        print("refused", name, type(error).__name__)

def find_host():
    import js
    return getattr(js, "host", None)

def through_run_js():
    from pyodide.code import run_js
    return run_js("typeof host !== 'undefined' && host.send")

def through_function():
    import js
    return js.Function.new("return this")().host

def through_constructor():
    import js
    return js.Object.constructor.constructor("return host")()

def through_proxy():
    import pyodide.ffi, gc
    for thing in gc.get_objects():
        if type(thing).__name__ == "JsProxy" and hasattr(thing, "constructor"):
            found = thing.constructor.constructor("return typeof host === 'undefined' ? null : host")()
            if found:
                return found

for name, action in list(globals().items()):
    if name.startswith(("find_", "through_")):
        attempt(name, action)
