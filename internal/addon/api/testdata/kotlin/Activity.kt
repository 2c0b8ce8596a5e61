package android.app
class Activity : android.content.Context()
