package org.json

class JSONException(message: String) : Exception(message)

class JSONObject(text: String = "{}") {
    fun put(name: String, value: Any?): JSONObject = TODO()
    fun getJSONObject(name: String): JSONObject = TODO()
    fun getString(name: String): String = TODO()
    fun getBoolean(name: String): Boolean = TODO()
}

class JSONArray(values: Collection<*>)
